import type { OpenHoldState } from '../../../machines/domain/hold.ts';
import type { LedgerChange } from '../../../machines/domain/ledger.ts';
import type { DecidedCall, Owner, Task, TaskState } from '../../../machines/domain/task.ts';
import type { EnteredState, StateHistory } from '../../../machines/task/entered-state.ts';
import type { TaskScope } from '../../../machines/task/task-access.ts';
import type { SentMessage } from './message-key.ts';
import type { ChangedQuery, PageQuery, TaskFilter, TaskPage, TaskQuery } from './task-page.ts';

/** A task as stored on disk. */
export interface StoredTask {
  task: Task;
  /** The persisted snapshot of its chart; `null` once the task is final. */
  snapshot: object | null;
  machineVersion: number;
  /** The last `seq` of its audit events. */
  auditSeq: number;
  /** The tool call whose start is on disk, but not its end. */
  startedCall: string | null;
  /**
   * Set only if the row is unreadable: its state, or `null` if it had ended. `task` then contains only what is known.
   */
  unreadable?: TaskState | null;
}

/** The next version of a task; `expected` is the revision that it replaces, 0 for a new one. */
export interface TaskChange extends Omit<StoredTask, 'unreadable'> {
  expected: number;
  /** Messages that led to this change, to be recognised when they are sent again; absent for none. */
  sent?: readonly SentMessage[];
  /** Chart states entered by this change; absent for none. */
  entered?: readonly EnteredState[];
  /** Decided calls whose outcome this change makes known; absent for none. */
  outcomes?: readonly DecidedCall[];
  /** What this change changes in the ledger; absent for nothing. */
  ledger?: readonly LedgerChange[];
  /** True if this daemon takes the task over from another one that was running it. */
  isClaimed?: boolean;
}

/** A caller who decided; `null` without authentication. */
export type Decider = DecidedCall['by'][number];

/** Unfinished tasks saved by another version of their chart. */
export interface StrangeTasks {
  machineVersion: number;
  tasks: number;
}

/** The calls that wait for a decision; times are in epoch milliseconds. */
export interface WaitFigures {
  /** Time since which the oldest of them waits; `null` for none. */
  oldestAt: number | null;
  /** The next time at which one of them expires; `null` for none. */
  expiresAt: number | null;
  /** Number of stored deadlines that have passed and are not processed yet, at most 1,000. */
  overdue: number;
}

/** The tasks of an agent. Reads see only committed data. */
export interface TaskRows {
  /** Paged lists of the tasks. */
  readonly listing: TaskListing;
  /** The task of each message. */
  readonly messages: MessageRows;
  /** Sessions of the tasks. */
  readonly sessions: SessionRows;
  /** Chart states that the tasks have entered. */
  readonly states: StateRows;
  /** Returns a task with the data needed to resume it. */
  read(id: string): Promise<StoredTask | undefined>;
  /** Returns the public task. */
  find(id: string): Promise<Task | undefined>;
  /** Returns the task that waits on a deferral. */
  findByDeferral(deferralId: string): Promise<Task | undefined>;
  /** Returns the ids of running tasks, oldest first, which a restart must resume if possible. */
  working(): Promise<string[]>;
  /**
   * Returns the ids of parked tasks that can be resumed, oldest first, without those of the rulings in `but`.
   */
  parked(but?: readonly string[]): Promise<string[]>;
  /** Returns what the rulings on the calls of parked tasks were made from, as JSON, each once; none if daemons share them. */
  rulings(): Promise<string[]>;
  /** Returns the ids of parked tasks whose deadline has passed, most overdue first. */
  overdue(now: number): Promise<string[]>;
  /** Returns the first deadline after a time, in epoch milliseconds. */
  nextDeadline(after: number): Promise<number | null>;
  /** Counts the tasks of an owner that wait for a decision. */
  countWaiting(owner: Owner | null): Promise<number>;
  /** Returns the ids of up to `limit` tasks of an owner that wait for a decision. */
  waitingOf(owner: Owner | null, limit: number): Promise<string[]>;
  /** Counts unfinished tasks saved by other versions of their chart, by version. */
  strangers(): Promise<StrangeTasks[]>;
  /** Describes the calls that wait for a decision at a time, in epoch milliseconds. */
  waits(now: number): Promise<WaitFigures>;
  count(state: TaskState): Promise<number>;
  /** Counts tasks by state; states without tasks are omitted. */
  countByState(): Promise<Partial<Record<TaskState, number>>>;
  /** Counts the holds without a known end by state; states without holds are omitted. */
  countOpenHolds(): Promise<Partial<Record<OpenHoldState, number>>>;
}

/**
 * Task lists of an agent. Each query reads along one index, and no more rows than it returns. The index contains the
 * owner, so tasks outside the caller's scope are skipped there.
 */
export interface TaskListing {
  /** Lists tasks by creation, newest first; a task's position never changes. */
  made(query: TaskQuery, scope?: TaskScope): Promise<TaskPage>;
  /** Lists tasks by their last state change, newest first. */
  changed(query: ChangedQuery, scope?: TaskScope): Promise<TaskPage>;
  /** Lists tasks that wait for a decision, earliest deadline first. */
  waiting(query: PageQuery, scope?: TaskScope): Promise<TaskPage>;
  /** Lists the tasks with a decision of a caller, newest task first; `null` for callers without authentication. */
  decided(by: Decider, query: PageQuery): Promise<TaskPage>;
  /** Counts the tasks that match a filter, up to `mostCounted`. */
  total(filter: TaskFilter, scope?: TaskScope): Promise<number>;
}

/** The task of each sender's message; a row is deleted with its task. */
export interface MessageRows {
  /** Returns the id of a message's task. */
  find(key: string): Promise<string | undefined>;
  /**
   * Deletes the entry of a message for a task, unless the message now belongs to another one. Rejects with the store's
   * error.
   */
  forget(key: string, taskId: string): Promise<void>;
}

/** A page of an owner's contexts; `cursor` requests the next one. A page may be shorter than its limit. */
export interface ContextPage {
  contexts: { id: string; changedAt: number }[];
  cursor: string | null;
}

/** Tasks of one owner by context. */
export interface SessionRows {
  /** Reads up to `limit` tasks of an owner in a context, latest change first. */
  newestOf(contextId: string, owner: Owner | null, limit: number): AsyncIterable<Task>;
  /** Reads up to `limit` tasks of an owner in a context without their messages, latest change first. */
  briefsOf(contextId: string, owner: Owner | null, limit: number): Promise<Task[]>;
  /** Returns the task of an owner in a context with the oldest change. */
  firstOf(contextId: string, owner: Owner | null): Promise<Task | undefined>;
  /**
   * Lists the contexts of an owner with the time of their latest change in epoch milliseconds, newest first. `cursor`
   * comes from the previous page.
   */
  contextsOf(owner: Owner | null, limit: number, cursor?: string): Promise<ContextPage>;
}

/** Chart states that tasks have entered, with time and event. */
export interface StateRows {
  /** Returns the states that a task has entered, oldest first. */
  of(taskId: string): Promise<StateHistory>;
}
