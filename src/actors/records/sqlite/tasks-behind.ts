import type { Failure } from '../../../machines/domain/task.ts';
import type { JsonObject } from '../../../machines/json.ts';
import { outcomeInLog } from '../../../machines/task/failure-of.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import { endOfTask, taskInStore } from '../store/end-of-task.ts';
import { restoredHold } from '../store/hold-write.ts';
import { isOfReceivedHold, TaskInLog, taskOfLine } from '../store/task-in-log.ts';
import type { TaskWrite } from '../store/task-store.ts';
import type { SqliteTaskRows } from './sqlite-task-rows.ts';

/**
 * Tasks affected by log lines that the store does not know: unfinished tasks in the store, and tasks that the lines
 * show as running. Since further lines may be missing, these tasks are ended, so that no call runs twice
 * (docs/contract/audit.md). For the same reason no approved call is released that its program may have received.
 */
export class TasksBehind {
  readonly #rows: SqliteTaskRows;
  readonly #unfinished: ReadonlySet<string>;
  readonly #tasks = new Map<string, TaskInLog>();
  readonly #dueHolds: ReadonlySet<string>;
  readonly #holds = new Set<string>();

  constructor(rows: SqliteTaskRows) {
    this.#rows = rows;
    this.#unfinished = new Set(rows.unfinishedNow());
    this.#dueHolds = new Set(rows.dueHoldsNow());
  }

  /** Processes the next line that the store does not know. */
  take(line: JsonObject): void {
    const id = taskOfLine(line);
    if (id === null) return;
    if (isOfReceivedHold(line) && this.#dueHolds.has(id)) this.#holds.add(id);
    const task = this.#find(id);
    task.take(line);
    if (!task.isUnderWay && !this.#unfinished.has(id)) this.#tasks.delete(id);
  }

  /** Includes every unfinished task and every approved call of the store, since lines that named it may be missing. */
  takeAll(): void {
    for (const id of this.#unfinished) this.#find(id);
    for (const id of this.#dueHolds) this.#holds.add(id);
  }

  /** Includes every running task and every approved call of the store, but no task that waits. */
  takeRunning(): void {
    for (const id of this.#rows.runningNow()) this.#find(id);
    for (const id of this.#dueHolds) this.#holds.add(id);
  }

  /**
   * Ends the tasks in the store within its open transaction; returns their events, and the number of approved calls that
   * are released no more.
   *
   * @param at epoch milliseconds
   */
  end(
    at: number,
    failure: Failure = outcomeInLog,
  ): { tasks: number; holds: number; events: AuditEvent[] } {
    const events = [...this.#tasks.values()].flatMap((task) => this.#end(task, at, failure));
    const writes = [...this.#holds].flatMap((id) => this.#restoredHold(id, at) ?? []);
    for (const { change } of writes) this.#rows.write(change);
    return {
      tasks: this.#tasks.size,
      holds: writes.length,
      events: [...events, ...writes.flatMap((write) => write.events)],
    };
  }

  #restoredHold(id: string, at: number): TaskWrite | null {
    const stored = this.#rows.readNow(id);
    return stored === undefined ? null : restoredHold(stored, { envelope: null, at });
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
