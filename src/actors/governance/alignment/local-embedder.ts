import type { Embedder } from './embedder.ts';

const dimensions = 512;

/** Whole words weigh more than trigrams. */
const wordWeight = 3;

/**
 * An embedder without network access that hashes the words and trigrams of a text. Weak: it recognises shared letters,
 * not meaning, so a synonym or another language scores low and a copied phrase high. For trials and tests, not for
 * protection.
 */
export function createLocalEmbedder(): Embedder {
  return {
    embed: async (texts, signal) => {
      signal.throwIfAborted();
      return texts.map(vectorOf);
    },
  };
}

function vectorOf(text: string): number[] {
  const vector = Array<number>(dimensions).fill(0);
  const add = (feature: string, weight: number) => {
    const index = hashOf(feature) % dimensions;
    vector[index] = (vector[index] ?? 0) + weight;
  };
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .match(/\p{L}+|\p{N}+|[^\s\p{L}\p{N}]+/gu);
  for (const word of words ?? []) {
    // Punctuation counts only in trigrams: every JSON text has the same marks.
    if (/[\p{L}\p{N}]/u.test(word)) add(word, wordWeight);
    const padded = ` ${word} `;
    for (let start = 0; start + 3 <= padded.length; start += 1) {
      add(`#${padded.slice(start, start + 3)}`, 1);
    }
  }
  return vector;
}

/** FNV-1a over UTF-16 units, as an unsigned 32-bit number. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
