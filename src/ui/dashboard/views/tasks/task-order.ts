import type { TaskRowJson } from '../../../../http/wire/dashboard/task-row-json.ts';

/** A task with the agent that has it. */
export interface ListedTask extends TaskRowJson {
  agent: string;
}

/** How far the list of an agent has been read: its next cursor, and when the oldest one read was created. */
export interface Frontier {
  cursor: string;
  oldest: string;
}

export function keyOf({ agent, id }: Pick<ListedTask, 'agent' | 'id'>): string {
  return `${agent}/${id}`;
}

/** Puts tasks into the order of the list: newest first. */
export function newestFirst(tasks: Iterable<ListedTask>): ListedTask[] {
  return [...tasks].sort(
    (one, other) => compare(other.created_at, one.created_at) || compare(keyOf(one), keyOf(other)),
  );
}

/**
 * Takes the tasks that can be shown in their places: none that is older than where the list of an agent ends which has
 * more, as that agent's next ones may be newer.
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

/** Says which rows of a list of equal rows are seen, with some beyond both edges. */
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
