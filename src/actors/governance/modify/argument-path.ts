/** Keys and list indexes that lead to a value in the arguments, each as text. */
export type ArgumentPath = readonly [string, ...string[]];

/** A parsed path, or one sentence about its problem. */
export type PathReading = { ok: true; path: ArgumentPath } | { ok: false; message: string };

const deepest = 64;

/**
 * Parses a dotted path such as `items.0.name` (docs/contract/governance.md). A dot within a key is written `\.`, a
 * backslash `\\`. A path has at most 64 parts, none of them empty.
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
  message: 'a backslash in a path comes before a dot or another backslash; write \\\\ for one',
};

const emptyPart: PathReading = {
  ok: false,
  message: 'a part of this path is empty; write keys and indexes with one dot between them',
};

const tooDeep: PathReading = {
  ok: false,
  message: `this path has more than ${deepest} parts; choose a place nearer to the top`,
};
