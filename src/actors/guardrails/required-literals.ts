import { ignoresCase, operationOf, type PatternNode } from './pattern-node.ts';

/** Strings of which every match contains at least one. */
export type Choice = readonly string[];

/** A choice, or `null` when nothing is known. */
type Literals = Choice | null;

/** What is known of a node: all it can match, if that is little, and what each match contains. */
interface Known {
  exact: Literals;
  required: readonly Choice[];
}

const unknown: Known = { exact: null, required: [] };

/** Choices one pattern offers. */
const mostChoices = 4;

/** Strings a node may match before it counts as matching anything. */
const mostExact = 16;

/** Strings one pattern may wait for. */
const mostRequired = 1_000;

/** A string that nearly every text contains: waiting for it costs more than it spares. */
const common = /^[\w\s.,:;'"/()-]$/;

/** Code units of one string: longer ones tell hardly more. */
const longest = 32;

/**
 * Returns choices, the most telling first: of the strings of each one, every text that the pattern
 * matches contains at least one, after `foldText`. A text without one can be skipped safely. There is
 * no choice when the pattern promises nothing.
 */
export function requiredLiterals(node: PatternNode): Choice[] {
  return choicesOf(known(node)).filter((choice) => !choice.some((literal) => common.test(literal)));
}

/** Maps the letters that RE2 takes for an ASCII one under `(?i)` to its lower case, unit by unit. */
export function foldText(text: string): string {
  return text.replace(/[A-Z\u017f\u212a]/g, foldLetter);
}

function foldLetter(letter: string): string {
  if (letter === '\u017f') return 's';
  return letter === '\u212a' ? 'k' : letter.toLowerCase();
}

function known(node: PatternNode): Known {
  switch (operationOf(node)) {
    case 'EMPTY_MATCH':
    case 'BEGIN_LINE':
    case 'END_LINE':
    case 'BEGIN_TEXT':
    case 'END_TEXT':
    case 'WORD_BOUNDARY':
    case 'NO_WORD_BOUNDARY':
      return { exact: [''], required: [] };
    case 'LITERAL':
      return knownLiteral(node);
    case 'CHAR_CLASS':
      return { exact: charactersOf(node), required: [] };
    case 'CAPTURE':
      return onlySub(node);
    case 'PLUS':
      return { exact: null, required: choicesOf(onlySub(node)) };
    case 'CONCAT':
      return knownConcatenation(node.subs);
    case 'ALTERNATE':
      return knownAlternatives(node.subs);
    default:
      return unknown;
  }
}

function onlySub({ subs }: PatternNode): Known {
  const [sub] = subs;
  return sub === undefined || subs.length > 1 ? unknown : known(sub);
}

function knownLiteral(node: PatternNode): Known {
  const pieces = [''];
  for (const rune of Array.from(node.runes ?? [])) {
    if (isPlain(rune, ignoresCase(node))) pieces.push(pieces.pop() + String.fromCharCode(rune));
    else pieces.push('');
  }
  const folded = pieces.map(foldText);
  if (folded.length === 1 && (folded[0]?.length ?? 0) <= longest) {
    return { exact: folded, required: [] };
  }
  return { exact: null, required: best(folded.map((piece) => [piece.slice(0, longest)])) };
}

/** A code point that is one code unit of the text and folds only as `foldText` does. */
function isPlain(rune: number, anyCase: boolean): boolean {
  if (rune < 0x80) return true;
  return !anyCase && rune <= 0xffff && (rune < 0xd800 || rune > 0xdfff);
}

function charactersOf({ runes }: PatternNode): Literals {
  const ranges = Array.from(runes ?? []);
  const characters = new Set<string>();
  for (let index = 0; index < ranges.length; index += 2) {
    const [from = 0, to = Number.POSITIVE_INFINITY] = ranges.slice(index, index + 2);
    if (to - from > 2 * mostExact) return null;
    for (let rune = from; rune <= to; rune += 1) {
      if (!isPlain(rune, false)) return null;
      characters.add(foldText(String.fromCharCode(rune)));
    }
  }
  return within(characters);
}

function knownConcatenation(subs: readonly PatternNode[]): Known {
  let run: readonly string[] = [''];
  const choices: Choice[] = [];
  let isWhole = true;
  for (const sub of subs) {
    const { exact, required } = known(sub);
    const joined = exact === null ? null : product(run, exact);
    if (joined !== null) {
      run = joined;
      continue;
    }
    isWhole = false;
    choices.push(run, ...required);
    run = exact ?? [''];
  }
  return isWhole
    ? { exact: run, required: [] }
    : { exact: null, required: best([...choices, run]) };
}

function product(heads: readonly string[], tails: readonly string[]): Literals {
  const joined = within(new Set(heads.flatMap((head) => tails.map((tail) => head + tail))));
  return joined?.every((text) => text.length <= longest) ? joined : null;
}

function knownAlternatives(subs: readonly PatternNode[]): Known {
  const all = subs.map(known);
  const exact = all.every((one) => one.exact !== null)
    ? within(new Set(all.flatMap((one) => one.exact ?? [])))
    : null;
  if (exact !== null) return { exact, required: [] };
  const each = all.map((one) => choicesOf(one)[0] ?? ['']);
  return { exact: null, required: best([[...new Set(each.flat())]]) };
}

function within(texts: ReadonlySet<string>): Literals {
  return texts.size > 0 && texts.size <= mostExact ? [...texts] : null;
}

function choicesOf({ exact, required }: Known): Choice[] {
  return best(exact === null ? required : [exact, ...required]);
}

/**
 * Drops choices that tell nothing, since every text contains the empty string, and those too long;
 * puts those first whose shortest string is long, as it is found by chance less often.
 */
function best(choices: readonly Choice[]): Choice[] {
  return choices
    .filter((choice) => choice.length <= mostRequired && !choice.includes(''))
    .toSorted((one, other) => shortest(other) - shortest(one) || one.length - other.length)
    .slice(0, mostChoices);
}

function shortest(choice: Choice): number {
  return Math.min(...choice.map((literal) => literal.length));
}
