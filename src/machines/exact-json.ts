import { isExactNumber } from './exact-number.ts';
import type { JsonValue } from './json.ts';
import { keptStart } from './text.ts';

/** What a JSON text comes to, be it valid or not. */
export interface JsonMeasure {
  /** Levels of its deepest brackets. */
  depth: number;
  /** Keys of all objects together. */
  keys: number;
  /** The first number that reading would change, cut; `null` without one. */
  inexact: string | null;
}

/** A JSON text holds a number that reading would change. */
export class InexactNumberError extends Error {
  readonly code = 'inexact_number';
}

/** Says what is wrong with a number of a JSON text, and what to do. */
export function inexactSentence(literal: string): string {
  return `the number ${literal} cannot be read without changing it; send it as a string`;
}

/**
 * Reads a JSON text without changing a number of it. Throws SyntaxError for a text that is no JSON, and
 * InexactNumberError for a number that would be rounded.
 */
export function readExactJson(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue;
  const inexact = inexactNumber(text);
  if (inexact === null) return value;
  throw new InexactNumberError(inexactSentence(inexact));
}

/** What is wrong with a JSON text in which a key stands twice in one object: readers differ in which one they take. */
export const repeatedKey = 'a key stands twice in one object; send each key once';

/** Tells whether an object of a JSON text has a key twice, of which reading it has left one. */
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

/** Returns the first number of a JSON text that reading would change, cut; `null` without one. */
export function inexactNumber(text: string): string | null {
  return measureJson(text).inexact;
}

/** The longest literal that is repeated, in characters. */
const longestQuote = 40;

/** Literals shorter than this are exact unless they have an exponent: 15 digits always are. */
const fewest = 16;

const quote = 0x22;
const colon = 0x3a;
const backslash = 0x5c;

/** Measures a JSON text in linear time, faster than it is parsed, up to where it is deeper than `mostLevels`. */
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
    // `[` and `{` differ in this bit alone, `]` and `}` as well.
    const bracket = code & ~0x20;
    if (bracket === 0x5b) depth += 1;
    else if (bracket === 0x5d) depth -= 1;
    if (depth <= measure.depth) continue;
    measure.depth = depth;
    if (depth > mostLevels) return measure;
  }
  return measure;
}

/** A sign changes nothing about it. */
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

/** The characters of a number: digits, `.`, `e`, `E`, `+` and `-`. */
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

/** Finds the quote that closes a string; -1 when none does. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

/** An odd number of backslashes before it takes a quote for the string. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  return (at - first) % 2 === 1;
}
