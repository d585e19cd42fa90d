/**
 * Scripts whose letters look like letters of another script (UTS 39). A word that mixes two of them is marked. Mixing
 * Latin with, for example, Japanese is common and not marked.
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

/** Matches a string with a letter that can imitate a Latin one. */
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

/** Letters of other scripts that look like Latin letters. A whole word of them can imitate a Latin word. */
const posing = /^[асԁеһіјӏԛорѕԝухѵАВЕЅЗІЈКМНОРСТУХԚԜαικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧоհոսցքօՏՕ\p{N}]+$/u;

/** A word with mixed letters: its mark and its end. */
export interface MixedWord {
  end: number;
  /** Text such as `mixed letters: а is Cyrillic`. */
  mark: string;
}

/** Maximum number of letters named in a mark. */
const mostNamed = 3;

/**
 * Finds words with mixed similar-looking letters, in order: a mix within one word, or a part consisting only of such
 * letters in an otherwise Latin email or domain.
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

/** `usual` is the word's script. Defaults to the script with the most letters, with preference for Latin. */
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
