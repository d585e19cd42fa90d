/** A changed line of a string, and the kind of change. */
export interface ChangedLine {
  kind: 'added' | 'removed';
  text: string;
  /** Number of the line in its text, from 1. */
  line: number;
}

/** Lists the line changes from one text to another, for texts with added and few changed lines. */
export function changedLines(before: string, after: string): ChangedLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const changes: ChangedLine[] = [];
  let place = 0;
  for (const [index, text] of now.entries()) {
    const kept = old.indexOf(text, place);
    // A later equal line counts as unchanged only if all lines before it are absent from here on.
    const isKept =
      kept === place || (kept > place && !appearsLater(old.slice(place, kept), now, index));
    if (!isKept) {
      changes.push({ kind: 'added', text, line: index + 1 });
      continue;
    }
    for (; place < kept; place += 1) {
      changes.push({ kind: 'removed', text: old[place] ?? '', line: place + 1 });
    }
    place += 1;
  }
  for (; place < old.length; place += 1) {
    changes.push({ kind: 'removed', text: old[place] ?? '', line: place + 1 });
  }
  return changes;
}

function appearsLater(lines: readonly string[], now: readonly string[], from: number): boolean {
  return lines.some((line) => now.includes(line, from));
}
