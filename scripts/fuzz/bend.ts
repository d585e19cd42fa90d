import type { Chance } from '../../test/helpers/chance.ts';

/** Bytes that readers of text stumble over. */
const odd = [
  ...[
    '',
    '\0',
    '\n',
    '\r\n',
    ' ',
    '\t',
    '"',
    "'",
    '`',
    '\\',
    '{',
    '}',
    '[',
    ']',
    '<',
    '>',
    ':',
    '-',
  ],
  ...['---\n', '```', '${A}', '&a ', '*a', '!!', '%00', '../', '__proto__', 'constructor', 'null'],
  ...['-1', '0', '1e999', '9007199254740993', '\u{feff}', '\u{202e}', '\u{d7ff}', '\u{1f600}'],
].map((text) => Buffer.from(text));
const broken = [Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0xed, 0xa0, 0x80])];
const longest = 4_096;

interface Bending {
  chance: Chance;
  /** Further insertions, in addition to those that often cause errors. */
  words: readonly string[];
  /** Texts of which a part can be put in. */
  others: readonly Buffer[];
}

/** Returns a string with one to eight bends. */
export function bend(text: Buffer, bending: Bending): Buffer {
  let bent = text;
  for (let left = 1 + bending.chance.below(8); left > 0; left -= 1) bent = once(bent, bending);
  return bent.subarray(0, longest);
}

function once(text: Buffer, { chance, words, others }: Bending): Buffer {
  const from = chance.below(text.length + 1);
  const upTo = Math.min(text.length, from + chance.below(chance.pick([2, 8, 64])));
  const put = (piece: Uint8Array): Buffer =>
    Buffer.concat([text.subarray(0, from), piece, text.subarray(upTo)]);
  switch (chance.below(7)) {
    case 0:
      return put(Buffer.of(chance.below(256)));
    case 1:
      return put(Buffer.alloc(0));
    case 2:
      return put(words.length === 0 ? chance.pick(broken) : Buffer.from(chance.pick(words)));
    case 3:
      return put(chance.pick([...odd, ...broken]));
    case 4: {
      const piece = text.subarray(from, upTo);
      return put(Buffer.concat(Array.from({ length: chance.below(32) }, () => piece)));
    }
    case 5: {
      const other = chance.pick(others);
      const start = chance.below(other.length + 1);
      return put(other.subarray(start, start + chance.below(256)));
    }
    default: {
      const flipped = Buffer.from(text);
      const at = chance.below(text.length);
      if (text.length > 0) flipped[at] = (flipped[at] as number) ^ (1 << chance.below(8));
      return flipped;
    }
  }
}
