import type { PushTarget } from '../../ports/push.ts';

/** A receiver that has not been notified of its task's end, or of a new run since. */
export interface OpenTarget {
  target: PushTarget;
  /** The last revision of the task that was delivered. */
  told: number;
}

/** Push notification receivers; a receiver is deleted with its task. */
export interface PushRows {
  /**
   * Inserts or replaces a receiver. A replacement inherits the last delivered revision; a new one starts at `told`.
   * Resolves with the inherited revision if the replaced receiver had not been notified of its task's end; `null`
   * otherwise.
   */
  put(target: PushTarget, told: number): Promise<number | null>;
  find(taskId: string, id: string): Promise<PushTarget | undefined>;
  /** Returns the receivers of a task, sorted by id. */
  list(taskId: string): Promise<PushTarget[]>;
  /** Deletes a receiver; returns whether it existed. */
  delete(taskId: string, id: string): Promise<boolean>;
  /** Saves the last delivered revision of a receiver. */
  keepTold(target: PushTarget, revision: number, isClosed: boolean): Promise<void>;
  /** Returns the receivers that have not been notified of the end of their task's last run. */
  open(): Promise<OpenTarget[]>;
  /** Deletes receivers of tasks that were never created. */
  deleteOrphans(): Promise<void>;
}
