import type { PushTarget } from '../../ports.ts';

/** A receiver that has not been told of the end of its task, or not that it has run again since. */
export interface OpenTarget {
  target: PushTarget;
  /** The last revision of the task that it was told of. */
  told: number;
}

/** The receivers of push notifications; one goes with its task, whoever deletes that. */
export interface PushRows {
  /**
   * Keeps a receiver; one in the place of another with the same id has been told what that one was, else up to
   * `told`. Resolves with what one in its place was told that does not know the end of its task; `null` without one.
   */
  put(target: PushTarget, told: number): Promise<number | null>;
  /** Returns a receiver of a task. */
  find(taskId: string, id: string): Promise<PushTarget | undefined>;
  /** Returns the receivers of a task, by their ids. */
  list(taskId: string): Promise<PushTarget[]>;
  /** Deletes a receiver; returns whether there was one. */
  delete(taskId: string, id: string): Promise<boolean>;
  /** Keeps what a receiver was told last. */
  keepTold(target: PushTarget, revision: number, isClosed: boolean): Promise<void>;
  /** Returns the receivers who do not know yet how their task ended, the last time it ran. */
  open(): Promise<OpenTarget[]>;
  /** Forgets the receivers of tasks that never came to be. */
  deleteOrphans(): Promise<void>;
}
