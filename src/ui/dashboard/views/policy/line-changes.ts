/** A line of two compared texts; `same` is in both. */
export interface LineChange {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

/** Number of context lines around a change. */
const around = 2;

/** Maximum number of lines between the first and the last change that are compared individually. */
const mostCompared = 1_000;

/** Lists the line differences between two texts, with two context lines. */
export function lineChanges(before: string, after: string): LineChange[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const middle = compared(old.slice(start, old.length - end), now.slice(start, now.length - end));
  if (middle.length === 0) return [];
  const same = (text: string): LineChange => ({ kind: 'same', text });
  return [
    ...old.slice(Math.max(0, start - around), start).map(same),
    ...middle,
    ...old.slice(old.length - end, old.length - end + around).map(same),
  ];
}

function compared(old: readonly string[], now: readonly string[]): LineChange[] {
  const removed = (text: string): LineChange => ({ kind: 'removed', text });
  const added = (text: string): LineChange => ({ kind: 'added', text });
  if (old.length > mostCompared || now.length > mostCompared) {
    return [...old.map(removed), ...now.map(added)];
  }
  // Length of the longest common subsequence from each pair of lines on.
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  const at = (one: number, other: number): number => common[one]?.[other] ?? 0;
  for (let one = old.length - 1; one >= 0; one -= 1) {
    const row = common[one];
    if (row === undefined) continue;
    for (let other = now.length - 1; other >= 0; other -= 1) {
      row[other] =
        old[one] === now[other]
          ? at(one + 1, other + 1) + 1
          : Math.max(at(one + 1, other), at(one, other + 1));
    }
  }
  const changes: LineChange[] = [];
  let [one, other] = [0, 0];
  while (one < old.length || other < now.length) {
    const [gone, come] = [old[one], now[other]];
    if (gone !== undefined && gone === come) {
      changes.push({ kind: 'same', text: gone });
      one += 1;
      other += 1;
    } else if (
      gone !== undefined &&
      (come === undefined || at(one + 1, other) >= at(one, other + 1))
    ) {
      changes.push(removed(gone));
      one += 1;
    } else if (come !== undefined) {
      changes.push(added(come));
      other += 1;
    }
  }
  return changes;
}
