import {
  hasRepeatedKey,
  InexactNumberError,
  measureJson,
  readExactJson,
  repeatedKey,
} from '../../../machines/exact-json.ts';
import { isExactValue } from '../../../machines/exact-number.ts';
import { isJsonObject } from '../../../machines/json.ts';

/** Maximum nesting depth of a call's arguments; the same as for a request (docs/contract/transports.md). */
const deepest = 64;

/** Maximum size of a call's arguments as JSON, in bytes. */
const longest = 1024 * 1024;

/**
 * Returns in one sentence why a model's arguments are invalid: not JSON, not an object, nested too deeply, too large,
 * or with a number that parsing changes; `null` if they are valid. `written` is the original JSON.
 */
export function argumentFault(tool: string, args: unknown, written?: string): string | null {
  const misread = written === undefined ? null : misreading(written);
  if (misread !== null) return `the arguments of ${tool} ${misread}`;
  if (!isJsonObject(args)) return `the arguments of ${tool} must be an object`;
  if (isDeeper(args, deepest)) {
    return `the arguments of ${tool} are nested deeper than ${deepest} levels`;
  }
  if (hasInexact(args)) {
    return `the arguments of ${tool} hold a number beyond ±(2^53 - 1), which is not exact; send it as a string`;
  }
  if (Buffer.byteLength(JSON.stringify(args)) > longest) {
    return `the arguments of ${tool} are larger than 1 MiB`;
  }
  return null;
}

/** Returns why a string differs from its parsed value; empty text counts as no arguments. */
function misreading(written: string): string | null {
  if (written.trim() === '') return null;
  try {
    const value = readExactJson(written);
    const measure = measureJson(written);
    // Excessive depth is reported separately.
    const isRepeated = measure.depth <= deepest && hasRepeatedKey(value, measure);
    return isRepeated ? `are not plain: ${repeatedKey}` : null;
  } catch (error) {
    if (error instanceof InexactNumberError) return `are not exact: ${error.message}`;
    return brokenAt(written, error);
  }
}

/** For a truncated text the parser reports its end as the error position. */
function brokenAt(written: string, error: unknown): string {
  const [, said] = /at position (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  const position = Number(said ?? written.length);
  const how = position >= written.length ? 'cut off' : 'wrong';
  return `are not valid JSON: ${how} at character ${position}`;
}

/** A model's 1e400 is parsed as infinity, and 2^53 + 1 as 2^53; the call would differ from the model's request. */
function hasInexact(value: unknown): boolean {
  if (typeof value === 'number') return !isExactValue(value);
  return isContainer(value) && Object.values(value).some(hasInexact);
}

/** Checks level by level, so that deep nesting cannot overflow the stack. */
function isDeeper(args: object, levels: number): boolean {
  let level: object[] = [args];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === levels) return true;
    level = level.flatMap((value) => Object.values(value).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
