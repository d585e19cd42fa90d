import type { Failure } from '../../../machines/domain/task.ts';
import type { JsonObject } from '../../../machines/json.ts';
import { outcomeInLog } from '../../../machines/task/failure-of.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import { endOfTask, taskInStore } from '../store/end-of-task.ts';
import { TaskInLog, taskOfLine } from '../store/task-in-log.ts';
import type { SqliteTaskRows } from './sqlite-task-rows.ts';

/**
 * Tasks affected by log lines that the store does not know: unfinished tasks in the store, and tasks that the lines
 * show as running. Since further lines may be missing, these tasks are ended, so that no call runs twice
 * (docs/contract/audit.md).
 */
export class TasksBehind {
  readonly #rows: SqliteTaskRows;
  readonly #unfinished: ReadonlySet<string>;
  readonly #tasks = new Map<string, TaskInLog>();

  constructor(rows: SqliteTaskRows) {
    this.#rows = rows;
    this.#unfinished = new Set(rows.unfinishedNow());
  }

  /** Processes the next line that the store does not know. */
  take(line: JsonObject): void {
    const id = taskOfLine(line);
    if (id === null) return;
    const task = this.#find(id);
    task.take(line);
    if (!task.isUnderWay && !this.#unfinished.has(id)) this.#tasks.delete(id);
  }

  /** Includes every unfinished task of the store, since lines that named it may be missing. */
  takeAll(): void {
    for (const id of this.#unfinished) this.#find(id);
  }

  /** Includes every running task of the store, but none that waits. */
  takeRunning(): void {
    for (const id of this.#rows.workingNow()) this.#find(id);
  }

  /**
   * Ends the tasks in the store within its open transaction; returns their events.
   *
   * @param at epoch milliseconds
   */
  end(at: number, failure: Failure = outcomeInLog): { tasks: number; events: AuditEvent[] } {
    const events = [...this.#tasks.values()].flatMap((task) => this.#end(task, at, failure));
    return { tasks: this.#tasks.size, events };
  }

  #find(id: string): TaskInLog {
    const found = this.#tasks.get(id);
    if (found !== undefined) return found;
    const stored = this.#unfinished.has(id) ? this.#rows.readNow(id) : undefined;
    const task = stored === undefined ? new TaskInLog(id) : taskInStore(stored);
    this.#tasks.set(id, task);
    return task;
  }

  #end(task: TaskInLog, at: number, failure: Failure): AuditEvent[] {
    const { change, events } = endOfTask(task, this.#rows.readNow(task.id), { at, failure });
    this.#rows.write(change);
    return events;
  }
}
