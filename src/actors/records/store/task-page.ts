import type { Task, TaskState } from '../../../machines/task/task.ts';

/** A page of tasks; `cursor` asks for the next one. */
export interface TaskPage {
  tasks: Task[];
  cursor: string | null;
}

/** Which part of a list is asked for. */
export interface PageQuery {
  limit: number;
  /** Comes from the page before. */
  cursor?: string;
  /** True brings what was said as well; without it history and answer are empty. */
  withContents?: boolean;
}

/** A state that callers see, or `parked`: the tasks that wait for a decision here. */
export type ListedState = TaskState | 'parked';

/** What to list, the task that was made last first. */
export interface TaskQuery extends PageQuery {
  state?: ListedState;
}

/** Which tasks are meant; all of them when nothing is said. */
export interface TaskFilter {
  state?: ListedState;
  contextId?: string;
  /** Epoch milliseconds. */
  changedAfter?: number;
}

/** What to list, the task that changed last first. */
export type ChangedQuery = PageQuery & TaskFilter;

/** Bytes of JSON at which a page ends, unless its first task alone is larger (docs/contract/transports.md). */
export const largestPage = 4 * 1024 * 1024;

/** The number from which on tasks are not counted any more. */
export const mostCounted = 10_000;

/** Bytes that a surface adds to a task, and to each message, beside the ids that it may repeat there. */
const perTask = 1_024;
const perMessage = 256;

/** Returns the bytes by which a task may be longer on a surface than it is in its row, at most. */
export function addedTo({ id, contextId, history }: Task): number {
  const ids = id.length + Buffer.byteLength(JSON.stringify(contextId));
  // The text of the state is a message as well.
  return perTask + (history.length + 1) * (perMessage + ids);
}
