import { diffArrays } from 'diff';
import { isJsonObject, parseJson } from '../../../../machines/json.ts';
import type { TextPiece } from '../../../../machines/legible.ts';
import { visiblePieces } from '../../components/visible-text.ts';

/** A line of a string. A run of blank lines is one line, because it would push the following text out of sight. */
export interface ShownLine {
  /** Number of the line in its text, from 1; `null` for a string that is too long for numbers. */
  number: number | null;
  pieces: readonly TextPiece[];
}

/** A line of a difference, with its numbers in both texts; `null` where it is not part of the text. */
export interface DifferenceLine {
  kind: 'same' | 'removed' | 'added';
  before: number | null;
  after: number | null;
  pieces: readonly TextPiece[];
  /** True for a last line without a newline. */
  isCut: boolean;
}

/** A value as the page shows it. No part of any kind is omitted. */
export type ShownValue =
  | { kind: 'plain'; text: string }
  | { kind: 'text'; lines: ShownLine[]; note: string; isCommand: boolean }
  | { kind: 'difference'; lines: DifferenceLine[]; note: string }
  | { kind: 'parts'; parts: { name: string; value: ShownValue }[] };

/** Names of two arguments that replace a string by another one. */
const pairs: readonly (readonly [before: string, after: string])[] = [
  ['old_string', 'new_string'],
  ['oldString', 'newString'],
  ['old_str', 'new_str'],
];

const commands: ReadonlySet<string> = new Set(['command', 'cmd']);

/** Maximum number of lines that are shown one by one. */
const mostLines = 5_000;

/** Maximum number of lines of a call that are shown one by one, so that no call stops its page. */
const mostLinesOfCall = 10_000;

/** Blank lines in a row that are shown as one. */
const blankRun = 6;

/** Lines of one call that may still be shown one by one. */
export interface LinesLeft {
  lines: number;
}

/** Returns the lines that a call may show one by one. */
export function linesOfCall(): LinesLeft {
  return { lines: mostLinesOfCall };
}

/** Bounds of a comparison: changed lines, and milliseconds. */
const bounds = { maxEditLength: 2_000, timeout: 200 };

/** Maximum depth at which structures are taken apart. */
const deepest = 6;

/**
 * Formats a value unambiguously on one line, or as JSON: text as is, unless it could be confused with another value.
 */
export function argumentText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2);
  return isPlain(value) ? value : JSON.stringify(value);
}

/**
 * Returns how a value is shown: a string of several lines as lines, two texts of which one replaces the other as their
 * difference, and everything else as JSON.
 */
export function shownValue(
  name: string,
  value: unknown,
  depth = 0,
  left: LinesLeft = linesOfCall(),
): ShownValue {
  if (typeof value === 'string') {
    const isCommand = commands.has(name);
    if (value !== '' && (isCommand || value.includes('\n'))) {
      return shownText(value, { isCommand, left });
    }
  } else if (depth < deepest && hasTexts(value, depth)) {
    return { kind: 'parts', parts: partsOf(value, { depth: depth + 1, left }) };
  }
  return { kind: 'plain', text: argumentText(value) };
}

/** Returns the arguments of a call, or the members of a structure, as they are shown; a pair of texts is one part. */
export function partsOf(
  value: object,
  {
    depth = 0,
    isAlone = () => false,
    left = linesOfCall(),
  }: { depth?: number; isAlone?: (name: string) => boolean; left?: LinesLeft } = {},
): { name: string; value: ShownValue }[] {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => {
      const name = `[${index}]`;
      return joined(name, shownValue(name, item, depth, left));
    });
  }
  const pair = pairIn(value, isAlone, left);
  return Object.entries(value).flatMap(([name, item]) => {
    if (pair !== null && name === pair.after) return [];
    if (pair !== null && name === pair.before) {
      return [{ name: `${name} → ${pair.after}`, value: pair.difference }];
    }
    const label = depth === 0 || /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
    return [joined(label, shownValue(name, item, depth, left))];
  });
}

/** A structure with one part is shown as that part, under both names. */
function joined(name: string, value: ShownValue): { name: string; value: ShownValue } {
  const [only, ...others] = value.kind === 'parts' ? value.parts : [];
  if (only === undefined || others.length > 0) return { name, value };
  return { name: `${name} ${only.name}`, value: only.value };
}

/** Returns the difference of two texts; `null` if they are too long, or differ too much, to be compared. */
export function differenceOf(
  before: string,
  after: string,
  left: LinesLeft = linesOfCall(),
): ShownValue | null {
  const [old, now] = [tokensOf(before), tokensOf(after)];
  const count = old.length + now.length;
  if (count > mostLines || count > left.lines) return null;
  left.lines -= count;
  const changes = diffArrays(old, now, bounds);
  if (changes === undefined) return null;
  const lines: DifferenceLine[] = [];
  let [one, other] = [0, 0];
  for (const { added, removed, value } of changes) {
    for (const token of value) {
      const isCut = !token.endsWith('\n');
      lines.push({
        kind: added ? 'added' : removed ? 'removed' : 'same',
        before: added ? null : (one += 1),
        after: removed ? null : (other += 1),
        pieces: piecesOfLine(isCut ? token : token.slice(0, -1)),
        isCut,
      });
    }
  }
  return { kind: 'difference', lines, note: differenceNote(lines) };
}

function isPlain(text: string): boolean {
  return text !== '' && text.trim() === text && parseJson(text) === undefined;
}

function shownText(
  text: string,
  { isCommand, left }: { isCommand: boolean; left: LinesLeft },
): ShownValue {
  const lines = text.split('\n');
  const isClosed = text.endsWith('\n') && lines.length > 1;
  if (isClosed) lines.pop();
  const ends = isClosed ? lines : lines.slice(0, -1);
  const isDos = ends.length > 0 && ends.every((line) => line.endsWith('\r'));
  const count = `${lines.length.toLocaleString('en')} ${lines.length === 1 ? 'line' : 'lines'}`;
  const note = [
    count,
    isClosed ? 'ends with a newline' : 'no newline at the end',
    ...(isDos ? ['Windows line ends'] : []),
  ].join(', ');
  if (lines.length > mostLines || lines.length > left.lines) {
    return {
      kind: 'text',
      lines: [{ number: null, pieces: visiblePieces(text) }],
      note,
      isCommand,
    };
  }
  left.lines -= lines.length;
  const stripped = lines.map((line, index) =>
    isDos && index < ends.length ? line.slice(0, -1) : line,
  );
  return { kind: 'text', lines: numbered(stripped), note, isCommand };
}

function numbered(lines: readonly string[]): ShownLine[] {
  const shown: ShownLine[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    let end = index;
    // Other blank characters, such as U+FEFF, are part of what runs, so they are shown.
    while (/^[ \t]*$/.test(lines[end] ?? '-')) end += 1;
    const number = index + 1;
    if (end - index >= blankRun) {
      const text = `${(end - index).toLocaleString('en')} blank lines`;
      shown.push({ number, pieces: [{ kind: 'hidden', text }] });
      index = end - 1;
    } else shown.push({ number, pieces: piecesOfLine(lines[index] ?? '') });
  }
  return shown;
}

/** Blanks at the end of a line, and a carriage return in it, are invisible too. */
function piecesOfLine(line: string): TextPiece[] {
  const [, text = '', blanks = ''] = /^(.*?)( *)$/s.exec(line) ?? [];
  const pieces = text.split('\r').flatMap((part, index): TextPiece[] => {
    const own = visiblePieces(part);
    return index === 0 ? own : [{ kind: 'hidden', text: 'U+000D' }, ...own];
  });
  if (blanks === '') return pieces;
  const count = blanks.length === 1 ? '1 blank' : `${blanks.length.toLocaleString('en')} blanks`;
  return [...pieces, { kind: 'quiet', text: count }];
}

function tokensOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function differenceNote(lines: readonly DifferenceLine[]): string {
  const count = (wanted: DifferenceLine['kind']) =>
    lines.filter(({ kind }) => kind === wanted).length;
  const [added, removed] = [count('added'), count('removed')];
  if (added + removed === 0) return 'No line differs.';
  const words = (number: number, what: string) =>
    `${number.toLocaleString('en')} ${number === 1 ? 'line' : 'lines'} ${what}`;
  if (removed === 0) return words(added, 'added');
  if (added === 0) return words(removed, 'removed');
  return `${words(added, 'added')}, ${removed.toLocaleString('en')} removed`;
}

function pairIn(value: object, isAlone: (name: string) => boolean, left: LinesLeft) {
  const members: Partial<Record<string, unknown>> = { ...value };
  for (const [before, after] of pairs) {
    const [old, now] = [members[before], members[after]];
    if (typeof old !== 'string' || typeof now !== 'string') continue;
    if (isAlone(before) || isAlone(after)) continue;
    const difference = differenceOf(old, now, left);
    if (difference !== null) return { before, after, difference };
  }
  return null;
}

/** Returns true if a structure has a string that JSON would show as one escaped line, or a pair of texts. */
function hasTexts(value: unknown, depth: number): value is object {
  if (depth > deepest || typeof value !== 'object' || value === null) return false;
  const isText = (item: unknown): boolean =>
    typeof item === 'string' ? item.includes('\n') : hasTexts(item, depth + 1);
  if (Object.values(value).some(isText)) return true;
  return isJsonObject(value) && pairs.some(([before, after]) => before in value && after in value);
}
