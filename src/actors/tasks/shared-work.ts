import type { OwnedTask } from '../../machines/task/task-access.ts';

/** A change of a task that another daemon committed. */
export interface ForeignChange {
  taskId: string;
  revision: number;
  /** Whose the task was while a call of it waited that waits no more; `null` when none did. */
  waited: OwnedTask | null;
}

/** What a daemon is asked to do for the tasks that it shares with others. */
export interface SharedDuties {
  /** Takes in a change; called in the order of the commits, and not again before it is done. */
  changed(change: ForeignChange): Promise<void>;
  /** Takes up a task at work whose daemon is gone. */
  takeUp(taskId: string): Promise<void>;
  /** Has a parked task go on whose deadline has come. */
  wake(taskId: string): Promise<void>;
  /** Deletes tasks that have been final for long enough. */
  deleteExpired(): Promise<void>;
}

/** Which of several daemons over one store does what, and when: a job engine decides it, not the daemons. */
export interface SharedWork {
  /** The tasks that no daemon was there for as this one began, and that are to be given up: a restart of the agent interrupted them. */
  readonly interrupted: readonly string[];
  /** Takes part in the work from now on. */
  start(duties: SharedDuties): Promise<void>;
  /** Takes no part any more; what is at work here is then taken up by others. */
  stop(): Promise<void>;
}
