/** Lines that a copy has at least. */
const least = 6;

/** Places in which the same lines stand at most; more are the form of a table, no copy. */
const most = 8;

/**
 * Counts the pairs of places in the files that share six or more lines. Imports, comments, empty lines and lone
 * punctuation do not count as lines.
 */
export function copiesIn(files: readonly { text: string }[]): number {
  const places = new Map<string, [file: number, line: number][]>();
  const all = files.map(({ text }) => linesOf(text));
  for (const [file, lines] of all.entries()) {
    for (let line = 0; line + least <= lines.length; line += 1) {
      const run = lines.slice(line, line + least).join('\n');
      const same = places.get(run);
      if (same === undefined) places.set(run, [[file, line]]);
      else same.push([file, line]);
    }
  }
  const before = ([file, line]: [number, number]): string | undefined => all[file]?.[line - 1];
  const pairs = [...places.values()].filter(({ length }) => length > 1 && length <= most);
  return pairs.reduce((sum, same) => {
    const starts = same.flatMap((one, at) =>
      same
        .slice(at + 1)
        .filter((other) => before(one) === undefined || before(one) !== before(other)),
    );
    return sum + starts.length;
  }, 0);
}

function linesOf(text: string): string[] {
  return text
    .replaceAll(/^import [^;]*;$/gm, '')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /\w/.test(line) && !line.startsWith('//'));
}
