import { lookAlikes } from './look-alikes.ts';

/** What a code unit of a text means to its reader. */
export const kinds = {
  /** It is read as it stands. */
  plain: 0,
  space: 1,
  /** Any other blank that stays in its line. */
  blank: 2,
  /** A blank that ends a line or a column, or a control character. */
  breaking: 3,
  /** Nobody sees it: zero-width and bidirectional marks, variation selectors and the like. */
  invisible: 4,
  /** It joins the character before it to one: marks, Hangul vowels and finals, voicing of half width. */
  joining: 5,
  /** NFKC makes something else of it. */
  changing: 6,
  /** Half of a character: one that may be any of these. */
  surrogate: 7,
  /** It looks like a letter of ASCII. */
  alike: 8,
  /** Nobody sees it, and models read it as a character of ASCII. */
  tag: 9,
} as const;

/** The characters of each kind; what is in two of them is of the first. */
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

/** Returns the kind of every code unit, from one table; the first call takes some milliseconds. */
export function unitKinds(): Uint8Array {
  table ??= kindsOfUnits();
  return table;
}

/** Makes the table anew. */
export function kindsOfUnits(): Uint8Array {
  const units = new Uint8Array(0x1_0000);
  const all = Array.from(units, (_, unit) => String.fromCharCode(unit));
  // Backwards, as the surrogates in order would make one pair.
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
