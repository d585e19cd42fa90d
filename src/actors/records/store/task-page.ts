import type { Task, TaskState } from '../../../machines/domain/task.ts';
import type { TimeRange } from '../../../machines/time-range.ts';

/** A page of tasks; `cursor` requests the next one. */
export interface TaskPage {
  tasks: Task[];
  cursor: string | null;
}

/** The requested part of a list. */
export interface PageQuery {
  limit: number;
  /** Comes from the previous page. */
  cursor?: string;
  /** True includes message contents; otherwise history and answer are empty. */
  withContents?: boolean;
}

/** A public state, or `parked`: tasks that wait for a decision here. */
export type ListedState = TaskState | 'parked';

/** A list query, sorted by creation, newest first; the range is that of the creation. */
export interface TaskQuery extends PageQuery, TimeRange {
  state?: ListedState;
}

/** Filter for tasks; an empty one matches all. */
export interface TaskFilter {
  state?: ListedState;
  contextId?: string;
  /** Epoch milliseconds. */
  changedAfter?: number;
}

/** A list query, sorted by last change, newest first. */
export type ChangedQuery = PageQuery & TaskFilter;

/** Maximum bytes of JSON in a page; a larger first task forms a page of its own (docs/contract/transports.md). */
export const largestPage = 4 * 1024 * 1024;

/** Counting of tasks stops at this number. */
export const mostCounted = 10_000;

/** Bytes that a surface adds to each task (and message, below), without the repeated ids. */
const perTask = 1_024;
const perMessage = 256;

/** Returns the maximum number of bytes that a surface adds to a task's stored form. */
export function addedTo({ id, contextId, history }: Task): number {
  const ids = id.length + Buffer.byteLength(JSON.stringify(contextId));
  // The status text counts as another message.
  return perTask + (history.length + 1) * (perMessage + ids);
}
