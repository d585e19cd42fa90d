import type { ConditionWordJson } from '../../../../http/wire/dashboard/policy-edit-json.ts';

/** The completions at a position of an expression. */
export interface Completions {
  /** Position where the completed text begins. */
  from: number;
  words: readonly ConditionWordJson[];
}

/** Methods of texts and lists in CEL. */
const methods: readonly ConditionWordJson[] = [
  { word: 'contains(', type: 'bool', about: 'Whether a string contains another.' },
  { word: 'startsWith(', type: 'bool', about: 'Whether a string begins with another.' },
  { word: 'endsWith(', type: 'bool', about: 'Whether a string ends with another.' },
  { word: 'matches(', type: 'bool', about: 'Whether a string matches a pattern (RE2).' },
  { word: 'size()', type: 'int', about: 'The length.' },
  { word: 'exists(', type: 'bool', about: 'exists(x, condition): whether an element fits.' },
  { word: 'all(', type: 'bool', about: 'all(x, condition): whether all elements fit.' },
];

/** Lists what can stand at the end of `before`, the expression up to the cursor; `null` for nothing. */
export function completionsAt(
  before: string,
  { words, tools }: { words: readonly ConditionWordJson[]; tools: readonly string[] },
): Completions | null {
  const quoted = openText(before);
  if (quoted !== null) {
    if (!/history\.(count|sum|last)\(\s*["']$/.test(before.slice(0, quoted))) return null;
    return { from: quoted, words: tools.map((word) => ({ word, type: 'tool', about: '' })) };
  }
  const [path = ''] = /[A-Za-z_][\w.]*$/.exec(before) ?? [];
  const start = before.length - path.length;
  const dot = path.lastIndexOf('.');
  const parent = path.slice(0, dot + 1);
  const known = words.filter(({ word }) => word.startsWith(parent) && !hasDot(word, parent.length));
  if (dot === -1) return { from: start, words: known };
  const inside = known.map((one) => ({ ...one, word: one.word.slice(parent.length) }));
  return { from: start + dot + 1, words: inside.length > 0 ? inside : methods };
}

function hasDot(word: string, after: number): boolean {
  return word.includes('.', after);
}

/** Returns the position after the quote of an unfinished text; `null` outside of one. */
function openText(before: string): number | null {
  let quote: string | null = null;
  let from = 0;
  for (let at = 0; at < before.length; at += 1) {
    const letter = before[at];
    if (quote === null && (letter === '"' || letter === "'")) [quote, from] = [letter, at + 1];
    else if (quote !== null && letter === '\\') at += 1;
    else if (letter === quote) quote = null;
  }
  return quote === null ? null : from;
}

/** Returns the place of a position in an expression, such as `column 12`; with the line where there are several. */
export function placeWords(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  const column = `column ${(lines.at(-1)?.length ?? 0) + 1}`;
  return text.includes('\n') ? `line ${lines.length}, ${column}` : column;
}
