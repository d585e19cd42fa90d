import { lookAlikes } from './look-alikes.ts';

/** Kinds of code units for text normalisation. */
export const kinds = {
  /** Unchanged by normalisation. */
  plain: 0,
  space: 1,
  /** Any other blank within a line. */
  blank: 2,
  /** A blank that ends a line or column, or a control character. */
  breaking: 3,
  /** Invisible: zero-width and bidirectional marks, variation selectors and similar. */
  invisible: 4,
  /** Combines with the preceding character: marks, Hangul vowels and finals, half-width voicing marks. */
  joining: 5,
  /** Changed by NFKC. */
  changing: 6,
  /** Half of a surrogate pair, whose character may be of any kind. */
  surrogate: 7,
  /** Looks like an ASCII letter. */
  alike: 8,
  /** Invisible to people, but read by models as an ASCII character. */
  tag: 9,
} as const;

/** Character classes of each kind; a character in two classes has the first kind. */
const classes: readonly (readonly [RegExp, number])[] = [
  [/ /gu, kinds.space],
  [new RegExp(`[${[...lookAlikes.keys()].join('')}]`, 'gu'), kinds.alike],
  [/[\u{e0020}-\u{e007e}]/gu, kinds.tag],
  [/\p{Default_Ignorable_Code_Point}/gu, kinds.invisible],
  [/[\p{Zs}\u2800]/gu, kinds.blank],
  [/[\s\p{Cc}]/gu, kinds.breaking],
  [/[\p{M}\u1160-\u11ff\uff9e\uff9f]/gu, kinds.joining],
  [/\p{Cs}/gu, kinds.surrogate],
];

/** Returns the kind of a character. */
export function kindOf(character: string): number {
  const found = classes.find(([expression]) => character.search(expression) !== -1);
  if (found !== undefined) return found[1];
  return character.normalize('NFKC') === character ? kinds.plain : kinds.changing;
}

let table: Uint8Array | null = null;

/** Returns the kind of every code unit from a cached table; the first call takes some milliseconds. */
export function unitKinds(): Uint8Array {
  table ??= kindsOfUnits();
  return table;
}

/** Creates the table. */
export function kindsOfUnits(): Uint8Array {
  const units = new Uint8Array(0x1_0000);
  const all = Array.from(units, (_, unit) => String.fromCharCode(unit));
  // Reversed, since consecutive surrogates in order would form a pair.
  const text = all.toReversed().join('');
  for (const [expression, kind] of classes.toReversed()) {
    for (const { 0: character } of text.matchAll(expression)) {
      units[character.charCodeAt(0)] = kind;
    }
  }
  all.forEach((character, unit) => {
    if (units[unit] === kinds.plain && character.normalize('NFKC') !== character) {
      units[unit] = kinds.changing;
    }
  });
  return units;
}
