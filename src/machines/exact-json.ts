import { isExactNumber } from './exact-number.ts';
import type { JsonValue } from './json.ts';
import { keptStart } from './text.ts';

/** Metrics of a JSON text, valid or not. */
export interface JsonMeasure {
  /** Maximum nesting depth. */
  depth: number;
  /** Total number of keys in all objects. */
  keys: number;
  /** The first number that parsing would change, truncated; `null` if there is none. */
  inexact: string | null;
}

/** A JSON text contains a number that parsing would change. */
export class InexactNumberError extends Error {
  readonly code = 'inexact_number';
}

/** Returns the error message for a number that parsing would change, including the fix. */
export function inexactSentence(literal: string): string {
  return `the number ${literal} cannot be read without changing it; send it as a string`;
}

/**
 * Parses a JSON text without changing any number. Throws SyntaxError for invalid JSON, and InexactNumberError for a
 * number that would be rounded.
 */
export function readExactJson(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue;
  const inexact = inexactNumber(text);
  if (inexact === null) return value;
  throw new InexactNumberError(inexactSentence(inexact));
}

/** The error message for a key that occurs twice in one object. Parsers differ in which value they keep. */
export const repeatedKey = 'a key is repeated in one object; send each key once';

/** Returns true if an object in the JSON text had a duplicate key, of which parsing kept only one. */
export function hasRepeatedKey(value: JsonValue, { keys }: Pick<JsonMeasure, 'keys'>): boolean {
  return keysOf(value) !== keys;
}

function keysOf(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  let count = Array.isArray(value) ? 0 : items.length;
  for (const item of items) count += keysOf(item);
  return count;
}

/** Returns the first number of a JSON text that parsing would change, truncated; `null` if there is none. */
export function inexactNumber(text: string): string | null {
  return measureJson(text).inexact;
}

/** Maximum length of a quoted literal in characters. */
const longestQuote = 40;

/** Literals shorter than this without an exponent are always exact: 15 digits are always representable. */
const fewest = 16;

const quote = 0x22;
const colon = 0x3a;
const backslash = 0x5c;

/** Measures a JSON text in linear time, faster than parsing. Stops once the nesting exceeds `mostLevels`. */
export function measureJson(text: string, mostLevels = Infinity): JsonMeasure {
  const measure: JsonMeasure = { depth: 0, keys: 0, inexact: null };
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      index = endOfString(text, index);
      if (index < 0) return measure;
      continue;
    }
    if (code === colon) {
      measure.keys += 1;
      continue;
    }
    if (isDigit(code)) {
      const end = endOfNumber(text, index);
      if (measure.inexact === null && !isExactAt(text, index, end)) {
        measure.inexact = keptStart(text.slice(index, end), longestQuote);
      }
      index = end - 1;
      continue;
    }
    // `[` and `{` differ only in this bit, as do `]` and `}`.
    const bracket = code & ~0x20;
    if (bracket === 0x5b) depth += 1;
    else if (bracket === 0x5d) depth -= 1;
    if (depth <= measure.depth) continue;
    measure.depth = depth;
    if (depth > mostLevels) return measure;
  }
  return measure;
}

/** The sign does not affect exactness. */
function isExactAt(text: string, start: number, end: number): boolean {
  if (end - start < fewest && !hasExponent(text, start, end)) return true;
  return isExactNumber(text.slice(start, end));
}

function hasExponent(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index += 1) {
    if ((text.charCodeAt(index) | 0x20) === 0x65) return true;
  }
  return false;
}

/** Skips the characters of a number: digits, `.`, `e`, `E`, `+` and `-`. */
function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    const isPart =
      isDigit(code) || code === 0x2e || (code | 0x20) === 0x65 || code === 0x2b || code === 0x2d;
    if (!isPart) break;
    end += 1;
  }
  return end;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Returns the index of a string's closing quote; -1 if there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

/** A quote after an odd number of backslashes belongs to the string. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  return (at - first) % 2 === 1;
}
