import { diffArrays } from 'diff';

/** A line of two compared texts; `same` is in both. */
export interface LineChange {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

/** Number of context lines around a change. */
const around = 2;

/** Maximum number of changed lines; beyond it the texts count as different in every line. */
const bounds = { maxEditLength: 2_000 };

/** Lists the line differences between two texts, from the first change to the last, with two context lines. */
export function lineChanges(before: string, after: string): LineChange[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const parts = diffArrays(old, now, bounds) ?? [
    { value: old, removed: true, added: false },
    { value: now, removed: false, added: true },
  ];
  const lines = parts.flatMap(({ value, removed, added }) => {
    const kind = removed ? 'removed' : added ? 'added' : 'same';
    return value.map((text): LineChange => ({ kind, text }));
  });
  const isChange = ({ kind }: LineChange): boolean => kind !== 'same';
  const first = lines.findIndex(isChange);
  if (first < 0) return [];
  return lines.slice(Math.max(0, first - around), lines.findLastIndex(isChange) + 1 + around);
}
