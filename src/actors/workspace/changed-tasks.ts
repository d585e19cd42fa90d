import type { EventSourceMessage } from 'eventsource-parser';
import { isTaskId } from '../../machines/task/task-id.ts';

/** Tasks whose changes wait to be told; with more of them everything is read again. */
const mostWaiting = 500;

/** Milliseconds in which changes of one task are gathered. */
const gathering = 60;

/** Milliseconds in which more changes than can be told one by one come to one flood. */
const flooding = 1_000;

export interface ChangedTasksOptions {
  /** Tells of these tasks, whose ids are distinct. Never rejects. */
  tell: (ids: readonly string[]) => Promise<void>;
  /** More has changed than can be told one by one; it is told when that is over, or once a second while it lasts. */
  onFlood: () => void;
}

/** Gathers which tasks of an agent have changed, so that a busy one is asked no more often than it can be told. */
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

  /** Notes what an event of the agent is about. */
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

/** The agent sends its own JSON of a task, or what names one. */
function taskIn(data: string): string | null {
  try {
    const { id, task_id: named, task } = Object(JSON.parse(data)) as Record<string, unknown>;
    const found = named ?? (Object(task) as { id?: unknown }).id ?? id;
    return isTaskId(found) ? found : null;
  } catch {
    return null;
  }
}
