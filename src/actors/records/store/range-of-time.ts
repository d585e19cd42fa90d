import type { TimeRange } from '../../../machines/time-range.ts';

/** Entries in the order of their commits may differ from the order of their times by up to this many milliseconds. */
const disorder = 5_000;

/** A position and the time of its entry, in epoch milliseconds. */
export interface TimedEntry {
  position: number;
  at: number;
}

/**
 * Finds the positions of a range by binary search over entries that are ordered by time, except for `disorder`. `from`
 * is the first position that can lie in the range, `to` the first one after it.
 *
 * @param firstFrom finds the first entry at or after a position that has a time
 */
export async function positionsOf(
  { from, to }: TimeRange,
  bounds: { first: number; end: number },
  firstFrom: (position: number) => Promise<TimedEntry | null> | TimedEntry | null,
): Promise<{ from: number; to: number }> {
  const search = async (time: number): Promise<number> => {
    let { first, end } = bounds;
    let found = end;
    while (first < end) {
      const middle = first + Math.floor((end - first) / 2);
      const entry = await firstFrom(middle);
      if (entry !== null && entry.at < time) first = entry.position + 1;
      else {
        end = middle;
        found = entry?.position ?? found;
      }
    }
    return found;
  };
  return {
    from: from === undefined ? bounds.first : await search(from - disorder),
    to: to === undefined ? bounds.end : await search(to + disorder + 1),
  };
}
