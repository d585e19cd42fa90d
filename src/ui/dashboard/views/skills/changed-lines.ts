/** A line of a text that was changed, and what became of it. */
export interface ChangedLine {
  kind: 'added' | 'removed';
  text: string;
  /** Its place in the text that it stands in, counted from 1. */
  line: number;
}

/** Lists the lines that make one text of another, for texts to which lines are added and of which few are changed. */
export function changedLines(before: string, after: string): ChangedLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const changes: ChangedLine[] = [];
  let place = 0;
  for (const [index, text] of now.entries()) {
    const kept = old.indexOf(text, place);
    // A line further down stands for itself only when all before it are gone from here on.
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
