import type { EventSourceMessage } from 'eventsource-parser';
import { parseJson } from '../../machines/json.ts';
import { isTaskId } from '../../machines/task/task-id.ts';

/** Maximum tasks with unreported changes; beyond it everything is read again. */
const mostWaiting = 500;

/** Time during which changes of tasks are batched, in milliseconds. */
const gathering = 60;

/** Duration of one flood in milliseconds, during which too many changes for individual reports are merged. */
const flooding = 1_000;

export interface ChangedTasksOptions {
  /** Reports changed tasks by their distinct ids. Never rejects. */
  tell: (ids: readonly string[]) => Promise<void>;
  /** Too many changes for individual reports; called when the flood ends, or once a second while it lasts. */
  onFlood: () => void;
}

/** Batches the changed tasks of an agent, so that a busy agent is queried no faster than changes can be reported. */
export class ChangedTasks {
  readonly #options: ChangedTasksOptions;
  readonly #waiting = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #flood: NodeJS.Timeout | null = null;
  #isTelling = false;
  #isClosed = false;

  constructor(options: ChangedTasksOptions) {
    this.#options = options;
  }

  /** Records the task of an agent's event. */
  add({ data }: EventSourceMessage): void {
    const id = taskIn(data);
    if (id === null || this.#isClosed || this.#flood !== null) return;
    if (this.#waiting.size >= mostWaiting) {
      this.#waiting.clear();
      this.#flood = setTimeout(() => {
        this.#flood = null;
        this.#options.onFlood();
      }, flooding);
      return;
    }
    this.#waiting.add(id);
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#flood !== null) clearTimeout(this.#flood);
  }

  #schedule(): void {
    if (this.#isTelling || this.#timer !== null || this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#isTelling = true;
      const ids = [...this.#waiting];
      this.#waiting.clear();
      void this.#options.tell(ids).finally(() => {
        this.#isTelling = false;
        if (!this.#isClosed) this.#schedule();
      });
    }, gathering);
  }
}

/** The agent sends its own JSON of a task, or an object that names a task. */
function taskIn(data: string): string | null {
  const { id, task_id: named, task } = Object(parseJson(data)) as Record<string, unknown>;
  const found = named ?? (Object(task) as { id?: unknown }).id ?? id;
  return isTaskId(found) ? found : null;
}
