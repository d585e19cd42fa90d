import { defaultContextTemplate, renderContext } from '../governance/defer-policy.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { legible } from '../legible.ts';
import type { ApprovalRequest } from './approval-notice.ts';

/** Arguments as lines of a message, and whether they are all of it. */
export interface ArgumentLines {
  /** One for each argument, the short ones first. */
  lines: string[];
  /** Whether a value or a name was cut. */
  isCut: boolean;
  /** How many arguments have no line, as there was no room. */
  leftOut: number;
}

/** Characters of a value, or a name, that is never cut. */
const shortValue = 200;

/** Characters that a long value may keep, the widest first. */
const widths = [2_000, 1_000, 500, shortValue];

const count = new Intl.NumberFormat('en-US');

/**
 * Writes each argument on a line of its own, its value as JSON, so that none can pose as another; a long one is cut in its
 * middle with its length. `room` tells whether lines are short enough together.
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

/** Returns whether a context says no more than the tool and its arguments. */
export function isDefaultContext({
  context,
  tool,
  args,
}: Pick<ApprovalRequest, 'context' | 'tool' | 'args'>): boolean {
  return args !== undefined && context === renderContext(defaultContextTemplate, tool, args);
}

/** Cuts a text in its middle, between two code points, and says how long it was; a short one is left whole. */
function cutMiddle(text: string, width: number, length = text.length): string {
  if (text.length <= Math.max(width, shortValue)) return legible(text);
  const kept = Math.max(width, shortValue) - 60;
  const head = text.slice(0, Math.ceil((kept * 2) / 3));
  const tail = text.slice(text.length - Math.floor(kept / 3));
  return `${legible(wholeStart(head))} … ${count.format(length)} characters … ${legible(wholeEnd(tail))}`;
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
