import type { EnteredState, StateHistory } from '../../../machines/task/entered-state.ts';
import type { Owner, Task, TaskState } from '../../../machines/task/task.ts';
import type { TaskScope } from '../../../machines/task/task-access.ts';
import type { SentMessage } from './message-key.ts';
import type { ChangedQuery, PageQuery, TaskFilter, TaskPage, TaskQuery } from './task-page.ts';

/** A task as it stands on disk. */
export interface StoredTask {
  task: Task;
  /** The persisted snapshot of its chart; `null` once the task is final. */
  snapshot: unknown;
  machineVersion: number;
  /** The last `seq` of its audit events. */
  auditSeq: number;
  /** The tool call whose start is on disk and whose end is not. */
  startedCall: string | null;
  /**
   * The state that a task stands in whose row cannot be read, `null` when it had ended; absent for any other.
   * `task` is then what can be said of it.
   */
  unreadable?: TaskState | null;
}

/** The next version of a task; `expected` is the revision it replaces, 0 for a new one. */
export interface TaskChange extends Omit<StoredTask, 'snapshot' | 'unreadable'> {
  expected: number;
  /** JSON, or `null` for a final task. */
  snapshot: string | null;
  /** The messages that led here and are to be known again; absent for none. */
  sent?: readonly SentMessage[];
  /** The states of the chart that led here; absent for none. */
  entered?: readonly EnteredState[];
  /** True when this daemon takes the task up from another one that was at work on it. */
  isClaimed?: boolean;
}

/** Tasks that have not ended and that another version of their chart saved. */
export interface StrangeTasks {
  machineVersion: number;
  tasks: number;
}

/** The tasks of an agent. Every read sees what is committed, and nothing else. */
export interface TaskRows {
  /** The tasks as pages. */
  readonly listing: TaskListing;
  /** Which message led to which of them. */
  readonly messages: MessageRows;
  /** Their sessions. */
  readonly sessions: SessionRows;
  /** The states of their chart that they have entered. */
  readonly states: StateRows;
  /** Returns a task with what is needed to go on with it. */
  read(id: string): Promise<StoredTask | undefined>;
  /** Returns the public task. */
  find(id: string): Promise<Task | undefined>;
  /** Returns the task that waits on a deferral. */
  findByDeferral(deferralId: string): Promise<Task | undefined>;
  /** Returns the ids of tasks at work, oldest first: the ones a restart has to go on with, as far as it can. */
  working(): Promise<string[]>;
  /** Returns the ids of parked tasks that can be gone on with, oldest first. */
  parked(): Promise<string[]>;
  /** Returns the ids of parked tasks whose deadline has passed, the most overdue first. */
  overdue(now: number): Promise<string[]>;
  /** Returns the first deadline after a time, in epoch milliseconds. */
  nextDeadline(after: number): Promise<number | null>;
  /** Returns the ids of tasks of one owner that wait for a decision, no more than `limit`. */
  waitingOf(owner: Owner | null, limit: number): Promise<string[]>;
  /** Counts the tasks that have not ended and that another version of their chart saved, by that version. */
  strangers(): Promise<StrangeTasks[]>;
  /** Counts tasks in a state. */
  count(state: TaskState): Promise<number>;
  /** Counts the tasks of every state that has any. */
  countByState(): Promise<Partial<Record<TaskState, number>>>;
}

/**
 * The lists of the tasks of an agent: each reads along one index, and no more rows than it shows. Whose a task
 * is stands in the index, so what the caller may not know of is passed over there.
 */
export interface TaskListing {
  /** Lists tasks, the one that was made last first; a task keeps its place whatever becomes of it. */
  made(query: TaskQuery, scope?: TaskScope): Promise<TaskPage>;
  /** Lists tasks, the one whose state changed last first. */
  changed(query: ChangedQuery, scope?: TaskScope): Promise<TaskPage>;
  /** Lists tasks that wait for a decision, the one whose deadline comes first at the front. */
  waiting(query: PageQuery, scope?: TaskScope): Promise<TaskPage>;
  /** Counts the tasks that a filter lets through, up to `mostCounted`. */
  total(filter: TaskFilter, scope?: TaskScope): Promise<number>;
}

/** Which message of whom led to which task; a row goes with its task. */
export interface MessageRows {
  /** Returns the id of the task that a message led to. */
  find(key: string): Promise<string | undefined>;
  /** Forgets a message that led to a task, unless it leads to another one by now. Rejects with the error of the store. */
  forget(key: string, taskId: string): Promise<void>;
}

/** A page of the contexts of one owner; `cursor` asks for the next one, and a page may be short of its limit. */
export interface ContextPage {
  contexts: { id: string; changedAt: number }[];
  cursor: string | null;
}

/** The tasks of one owner by the context that they belong to. */
export interface SessionRows {
  /** Reads up to `limit` tasks of a context that one owner has, the one that changed last first. */
  newestOf(contextId: string, owner: Owner | null, limit: number): AsyncIterable<Task>;
  /** Returns the task of a context that changed longest ago, of those that one owner has. */
  firstOf(contextId: string, owner: Owner | null): Promise<Task | undefined>;
  /**
   * Lists the contexts of one owner with the time of their last change in epoch milliseconds, newest first: each stands
   * where the task of it stands that changed last. `cursor` comes from the page before.
   */
  contextsOf(owner: Owner | null, limit: number, cursor?: string): Promise<ContextPage>;
}

/** Which states of their chart tasks have entered, when, and why. */
export interface StateRows {
  /** Returns the states that a task has entered, oldest first; none for one that an earlier version saved. */
  of(taskId: string): Promise<StateHistory>;
}
