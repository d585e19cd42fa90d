import type { ParsedUrlQuery } from 'node:querystring';
import type { TaskQuery } from '../../actors/tasks/tasks.ts';
import { type TaskState, taskStates } from '../../machines/domain/task.ts';
import { messageOf } from '../../machines/message-of.ts';
import { readTimeRange, type TimeRange } from '../../machines/time-range.ts';
import { Problem } from './problem.ts';

/** Default number of entries per page. */
const usualLimit = 50;

/** Maximum number of entries per page. */
const largestLimit = 500;

/**
 * Reads `state`, `include`, `from`, `to`, `limit` and `cursor` of a list request. Throws a 400 Problem that names the
 * fault.
 *
 * @param now epoch milliseconds
 */
export function readTaskQuery(
  query: ParsedUrlQuery,
  now: number,
): TaskQuery & { withOrigin: boolean } {
  const { state, include } = query;
  const page = { ...readPage(query), ...readInclude(include), ...readRange(query, now) };
  if (state === undefined || state === '') return page;
  if (!isTaskState(state)) {
    throw new Problem('invalid_query', `state must be one of ${taskStates.join(', ')}`);
  }
  return { state, ...page };
}

/** Reads `limit` and `cursor` of a list request. Throws a 400 Problem. */
export function readPage(query: ParsedUrlQuery): Page {
  return readPageBy(query, /^\d{1,15}$/);
}

/**
 * Reads `limit` and `cursor` for the session list, whose sort position changes with each change of a session. Throws a
 * 400 Problem.
 */
export function readSessionPage(query: ParsedUrlQuery): Page {
  return readPageBy(query, /^\d{1,15}-\d{1,15}$/);
}

/** Reads `limit` and `cursor` for the deferrals sorted by deadline. Throws a 400 Problem. */
export function readDeadlinePage(query: ParsedUrlQuery): Page {
  return readPageBy(query, /^\d{1,15}-\d{1,15}$/);
}

/** Reads `state`, `limit` and `cursor` for the calls whose outcome nobody knows. Throws a 400 Problem. */
export function readOutcomePage(query: ParsedUrlQuery): Page & { isOpen?: boolean } {
  const page = readPageBy(query, /^\d{1,16}-[^\p{Cc}]{1,256}$/u);
  const { state } = query;
  if (state === undefined || state === '') return page;
  if (state === 'open' || state === 'settled') return { ...page, isOpen: state === 'open' };
  throw new Problem('invalid_query', 'state must be open or settled');
}

/** Reads `order` for the deferrals; returns true for earliest deadline first. Throws a 400 Problem. */
export function readDeadlineOrder({ order }: ParsedUrlQuery): boolean {
  if (order === undefined || order === '') return false;
  if (order === 'deadline') return true;
  throw new Problem('invalid_query', 'order must be deadline');
}

/** Reads `from` and `to`; `now` in epoch milliseconds. Throws a 400 Problem. */
export function readRange({ from = '', to = '' }: ParsedUrlQuery, now: number): TimeRange {
  try {
    // A repeated parameter is a list, which no time reads as.
    return readTimeRange({ from: String(from), to: String(to) }, now);
  } catch (error) {
    throw new Problem('invalid_query', messageOf(error));
  }
}

/** Reads `decided_by` for the deferrals; returns true for the caller's decisions. Throws a 400 Problem. */
export function readDecidedBy({ decided_by: by }: ParsedUrlQuery): boolean {
  if (by === undefined || by === '') return false;
  if (by === 'me') return true;
  throw new Problem('invalid_query', 'decided_by must be me');
}

interface Page {
  limit: number;
  cursor?: string;
}

function readPageBy(query: ParsedUrlQuery, form: RegExp): Page {
  const limit = readWhole(query, 'limit', 1, largestLimit) ?? usualLimit;
  const cursor = query['cursor'];
  if (cursor === undefined || cursor === '') return { limit };
  if (typeof cursor === 'string' && form.test(cursor)) return { limit, cursor };
  throw new Problem('invalid_cursor', 'cursor must be the next_cursor of the page before');
}

/** Reads `historyLength`, the number of latest messages to return. Throws a 400 Problem. */
export function readHistoryLength(query: ParsedUrlQuery): number | undefined {
  return readWhole(query, 'historyLength', 0, 1_000_000);
}

/** Reads `history`; returns true if the task's states are requested. Throws a 400 Problem. */
export function readHistory({ history }: ParsedUrlQuery): boolean {
  if (history === undefined || history === '') return false;
  if (history === 'states') return true;
  throw new Problem('invalid_query', 'history must be states');
}

/** Reads a flag `true` or `false`; defaults to `false`. Throws a 400 Problem. */
export function readFlag(query: ParsedUrlQuery, name: string): boolean {
  const text = query[name];
  if (text === undefined || text === '' || text === 'false') return false;
  if (text === 'true') return true;
  throw new Problem('invalid_query', `${name} must be true or false`);
}

/** The values of `include` and the data that each adds to a list: history and artifacts, and each task's origin. */
const inclusions: Readonly<Record<string, { withContents: boolean; withOrigin: boolean }>> = {
  '': { withContents: false, withOrigin: false },
  artifacts: { withContents: true, withOrigin: false },
  origin: { withContents: false, withOrigin: true },
  'artifacts,origin': { withContents: true, withOrigin: true },
};

function readInclude(include: ParsedUrlQuery[string] = '') {
  const found =
    typeof include === 'string' && Object.hasOwn(inclusions, include)
      ? inclusions[include]
      : undefined;
  if (found !== undefined) return found;
  throw new Problem('invalid_query', 'include must be artifacts, origin, or artifacts,origin');
}

function readWhole(
  query: ParsedUrlQuery,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const text = query[name];
  if (text === undefined || text === '') return undefined;
  const value = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Problem('invalid_query', `${name} must be a whole number from ${least} to ${most}`);
}

function isTaskState(text: unknown): text is TaskState {
  return taskStates.some((state) => state === text);
}
