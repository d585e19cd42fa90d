import { defaultContextTemplate, renderContext } from '../governance/defer-policy.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { legible } from '../legible.ts';
import type { ApprovalRequest } from './approval-notice.ts';

/** Arguments as lines of a message, and whether they are complete. */
export interface ArgumentLines {
  /** One line per argument, short ones first. */
  lines: string[];
  /** True if a value or a name was cut. */
  isCut: boolean;
  /** Number of arguments omitted for lack of space. */
  leftOut: number;
}

/** Values and names up to this number of characters are never cut. */
const shortValue = 200;

/** Widths in characters tried for long values, widest first. */
const widths = [2_000, 1_000, 500, shortValue];

/**
 * Writes each argument on a line of its own with its value as JSON, so that no argument can imitate another. A long one
 * is cut in the middle with its length. `room` returns true if the lines together are short enough.
 */
export function argumentLines(args: JsonObject, room: (lines: string[]) => boolean): ArgumentLines {
  const entries = Object.entries(args).toSorted((one, other) => sizeOf(one) - sizeOf(other));
  const whole = entries.map((entry) => lineOf(entry, Number.POSITIVE_INFINITY));
  if (room(whole)) return { lines: whole, isCut: false, leftOut: 0 };
  for (const width of widths) {
    const lines = entries.map((entry) => lineOf(entry, width));
    if (room(lines)) return { lines, isCut: true, leftOut: 0 };
  }
  const lines: string[] = [];
  for (const entry of entries) {
    const line = lineOf(entry, shortValue);
    if (!room([...lines, line])) break;
    lines.push(line);
  }
  return { lines, isCut: true, leftOut: entries.length - lines.length };
}

/** Returns true if a context contains only the tool and its arguments. */
export function isDefaultContext({
  context,
  tool,
  args,
}: Pick<ApprovalRequest, 'context' | 'tool' | 'args'>): boolean {
  return args !== undefined && context === renderContext(defaultContextTemplate, tool, args);
}

/** Cuts a long text in the middle between two code points and adds its length; a short text is unchanged. */
function cutMiddle(text: string, width: number, length = text.length): string {
  if (text.length <= Math.max(width, shortValue)) return legible(text);
  const kept = Math.max(width, shortValue) - 60;
  const head = text.slice(0, Math.ceil((kept * 2) / 3));
  const tail = text.slice(text.length - Math.floor(kept / 3));
  return `${legible(wholeStart(head))} … ${grouped(length)} characters … ${legible(wholeEnd(tail))}`;
}

function lineOf([name, value]: [string, JsonValue], width: number): string {
  const said = JSON.stringify(value);
  const length = typeof value === 'string' ? value.length : said.length;
  const isPlain = /^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(name);
  const label = cutMiddle(isPlain ? name : JSON.stringify(name), width);
  return `${label}: ${cutMiddle(said, width, length)}`;
}

function sizeOf([name, value]: [string, JsonValue]): number {
  return name.length + JSON.stringify(value).length;
}

function wholeStart(text: string): string {
  return text.isWellFormed() ? text : text.replace(/[\ud800-\udbff]$/, '');
}

function wholeEnd(text: string): string {
  return text.isWellFormed() ? text : text.replace(/^[\udc00-\udfff]/, '');
}

/** Intl does the same, and takes 14 ms to load. */
function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
