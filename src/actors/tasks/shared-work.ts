import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import type { OwnedTask } from '../../machines/task/task-access.ts';
import type { SaidMessage } from './task-request.ts';

/** A change of a task committed by another daemon. */
export interface ForeignChange {
  taskId: string;
  revision: number;
  /** Owner data of the task while its call was held, if the change ended the wait; `null` otherwise. */
  waited: OwnedTask | null;
}

/** A request about a waiting task, which another daemon may answer in this one's place. */
export type HandedRequest =
  | { kind: 'decide'; attempted: DecisionAttempt }
  | { kind: 'cancel'; reason: string }
  | { kind: 'say'; said: SaidMessage }
  | { kind: 'join' }
  | { kind: 'showedLink' }
  | { kind: 'callerLeft' };

/** Callbacks of a daemon for tasks that it shares with others. */
export interface SharedDuties {
  /** Processes a change; called in commit order, one call at a time. */
  changed(change: ForeignChange): Promise<void>;
  /** Resumes a running task whose daemon is dead. */
  takeUp(taskId: string): Promise<void>;
  /** Resumes a parked task whose deadline has passed. */
  wake(taskId: string): Promise<void>;
  /** Deletes tasks that have been final for longer than the retention time. */
  deleteExpired(): Promise<void>;
  /** Answers a request that reached a daemon of an older release. Rejects with SystemError. */
  answer(taskId: string, request: HandedRequest): Promise<unknown>;
}

/** Distribution of work among daemons over one store; decided by a job engine, not by the daemons. */
export interface SharedWork {
  /**
   * Tasks interrupted by a restart of the agent that are to be abandoned: no daemon was running them when this one
   * started.
   */
  readonly interrupted: readonly string[];
  /**
   * Passes a request on to a daemon that can continue tasks saved by a version of the chart; `null` if none is
   * connected. Rejects with the SystemError of that daemon, or UnreachableError if it gives no answer.
   */
  handOver(
    taskId: string,
    machineVersion: number,
    request: HandedRequest,
  ): Promise<{ answer: unknown } | null>;
  /** Starts accepting work. */
  start(duties: SharedDuties): Promise<void>;
  /** Stops accepting work; tasks running here are then taken over by other daemons. */
  stop(): Promise<void>;
}
