/**
 * Scripts whose letters look like those of another one (UTS 39). A word that mixes two of them is marked; one of Latin
 * letters with, say, Japanese ones is usual and is not.
 */
const lookAlike = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Cherokee',
  'Coptic',
  'Georgian',
  'Glagolitic',
  'Lisu',
] as const;

type Script = (typeof lookAlike)[number];

let letters: Record<Script, RegExp> | undefined;
const lettersOf = () =>
  (letters ??= Object.fromEntries(
    lookAlike.map((script) => [script, new RegExp(`\\p{Script=${script}}`, 'u')]),
  ) as Record<Script, RegExp>);

/** Matches when a text has a letter that can pose as a Latin one. */
let foreign: RegExp | undefined;
const findForeign = () =>
  (foreign ??= new RegExp(
    `[${lookAlike
      .slice(1)
      .map((script) => `\\p{Script=${script}}`)
      .join('')}]`,
    'u',
  ));

/** A word, an email or a domain. */
const words = /[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}_]|[.@+-](?=[\p{L}\p{N}]))*/gu;

/** Letters of other scripts that look the same as Latin ones, so that a whole word of them can pose as one. */
const posing = /^[асԁеһіјӏԛорѕԝухѵАВЕЅЗІЈКМНОРСТУХԚԜαικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧоհոսցքօՏՕ\p{N}]+$/u;

/** A word that mixes letters, as a mark names it, and where it ends. */
export interface MixedWord {
  end: number;
  /** Such as `mixed letters: а is Cyrillic`. */
  mark: string;
}

/** Most letters that a mark names. */
const mostNamed = 3;

/**
 * Finds the words that mix letters which look alike, in their order: within one word, or, in an email or a domain that is
 * Latin otherwise, a part of nothing but such letters.
 */
export function mixedWords(text: string): MixedWord[] {
  if (!findForeign().test(text)) return [];
  const found: MixedWord[] = [];
  for (const { 0: word, index } of text.matchAll(words)) {
    if (!findForeign().test(word)) continue;
    const mark = markOf(word);
    if (mark !== null) found.push({ end: index + word.length, mark });
  }
  return found;
}

function markOf(word: string): string | null {
  const parts = word.split(/[.@+_-]/);
  for (const part of parts) {
    const mark = markOfMix(part);
    if (mark !== null) return mark;
  }
  if (!/[.@]/.test(word) || !lettersOf().Latin.test(word)) return null;
  const alien = parts.find((part) => findForeign().test(part) && posing.test(part));
  return alien === undefined ? null : markOfMix(`a${alien}`, 'Latin');
}

/** `usual` is the script of the word; the one with the most letters when left out, Latin before others. */
function markOfMix(part: string, usual?: Script): string | null {
  const times = new Map<string, number>();
  for (const letter of part) times.set(letter, (times.get(letter) ?? 0) + 1);
  const scripts = lookAlike
    .map((script) => {
      const found = [...times.keys()].filter((letter) => lettersOf()[script].test(letter));
      return { script, found, count: found.reduce((sum, one) => sum + (times.get(one) ?? 0), 0) };
    })
    .filter(({ count }) => count > 0);
  if (scripts.length < 2) return null;
  const most = Math.max(...scripts.map(({ count }) => count));
  const main = usual ?? scripts.find(({ count }) => count === most)?.script;
  const said = scripts
    .filter(({ script }) => script !== main)
    .map(({ script, found }) => {
      const named = found.slice(0, mostNamed).join(', ');
      return `${named} ${found.length === 1 ? 'is' : 'are'} ${script}`;
    });
  return `mixed letters: ${said.join('; ')}`;
}
