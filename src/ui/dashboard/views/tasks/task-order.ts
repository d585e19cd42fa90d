import type { TaskRowJson } from '../../../../http/wire/dashboard/task-row-json.ts';

/** A task and its agent. */
export interface ListedTask extends TaskRowJson {
  agent: string;
}

/** The position in an agent's list: its next cursor, and the creation time of the oldest task read. */
export interface Frontier {
  cursor: string;
  oldest: string;
}

export function keyOf({ agent, id }: Pick<ListedTask, 'agent' | 'id'>): string {
  return `${agent}/${id}`;
}

/** Sorts tasks newest first. */
export function newestFirst(tasks: Iterable<ListedTask>): ListedTask[] {
  return [...tasks].sort(
    (one, other) => compare(other.created_at, one.created_at) || compare(keyOf(one), keyOf(other)),
  );
}

/**
 * Returns the tasks whose position in the list is final. Tasks older than the last one read from an agent with more
 * pages are omitted, because that agent's next tasks may be newer.
 */
export function settled(
  ordered: readonly ListedTask[],
  frontiers: Iterable<Frontier>,
): readonly ListedTask[] {
  let limit = '';
  for (const { oldest } of frontiers) if (oldest > limit) limit = oldest;
  const end = ordered.findIndex(({ created_at }) => created_at < limit);
  return end === -1 ? ordered : ordered.slice(0, end);
}

/** Returns the visible rows of a list with equal row heights, with some rows beyond both edges. */
export function seenRows(
  count: number,
  height: number,
  top: number,
  room: number,
): { first: number; end: number } {
  const beyond = 10;
  const first = Math.max(0, Math.min(count, Math.floor(top / height) - beyond));
  const end = Math.min(count, Math.ceil((top + room) / height) + beyond);
  return { first, end: Math.max(first, end) };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
