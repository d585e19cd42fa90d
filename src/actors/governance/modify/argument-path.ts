/** The keys and list indexes that lead to a place in the arguments, each as text. */
export type ArgumentPath = readonly [string, ...string[]];

/** Where a path leads, or what is wrong with it in one sentence. */
export type PathReading = { ok: true; path: ArgumentPath } | { ok: false; message: string };

const deepest = 64;

/**
 * Reads a path in dots such as `items.0.name` (docs/contract/governance.md). A dot that belongs to a key is written
 * `\.`, a backslash `\\`; a path has at most 64 parts and none of them is empty.
 */
export function readArgumentPath(text: string): PathReading {
  const parts: string[] = [''];
  for (const [piece] of text.matchAll(/\\[\s\S]|[\s\S]/g)) {
    if (piece === '.') parts.push('');
    else if (piece.length === 2 && piece !== '\\.' && piece !== '\\\\') return strayBackslash;
    else if (piece === '\\') return strayBackslash;
    else parts.push((parts.pop() ?? '') + piece.slice(-1));
  }
  const [first, ...rest] = parts;
  if (first === undefined || parts.includes('')) return emptyPart;
  if (parts.length > deepest) return tooDeep;
  return { ok: true, path: [first, ...rest] };
}

const strayBackslash: PathReading = {
  ok: false,
  message: 'a backslash in a path stands before a dot or another backslash; write \\\\ for one',
};

const emptyPart: PathReading = {
  ok: false,
  message: 'a part of this path is empty; write keys and indexes with one dot between them',
};

const tooDeep: PathReading = {
  ok: false,
  message: `this path has more than ${deepest} parts; choose a place nearer to the top`,
};
