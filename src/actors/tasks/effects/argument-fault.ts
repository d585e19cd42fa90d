import {
  hasRepeatedKey,
  InexactNumberError,
  measureJson,
  readExactJson,
  repeatedKey,
} from '../../../machines/exact-json.ts';
import { isExactValue } from '../../../machines/exact-number.ts';
import { isJsonObject } from '../../../machines/json.ts';

/** How deep the arguments of a call may be nested; the same as for a request (docs/contract/transports.md). */
const deepest = 64;

/** How long the arguments of a call may be as JSON, in bytes. */
const longest = 1024 * 1024;

/**
 * Returns in one sentence why what a model gave as arguments cannot be taken: it is no JSON, no object, nested
 * too deep, too large or holds a number that reading changes; `null` when it can. `written` is the JSON as it came.
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

/** Says why a text is not what was read of it; nothing at all is read as no arguments. */
function misreading(written: string): string | null {
  if (written.trim() === '') return null;
  try {
    const value = readExactJson(written);
    const measure = measureJson(written);
    // What is too deep is refused for that.
    const isRepeated = measure.depth <= deepest && hasRepeatedKey(value, measure);
    return isRepeated ? `are not plain: ${repeatedKey}` : null;
  } catch (error) {
    if (error instanceof InexactNumberError) return `are not exact: ${error.message}`;
    return brokenAt(written, error);
  }
}

/** A text that breaks off has the fault of its parser at its end. */
function brokenAt(written: string, error: unknown): string {
  const [, said] = /at position (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  const position = Number(said ?? written.length);
  const how = position >= written.length ? 'cut off' : 'wrong';
  return `are not valid JSON: ${how} at character ${position}`;
}

/** A model's 1e400 is read as infinite, and 2^53 + 1 as 2^53: what runs would not be what the model said. */
function hasInexact(value: unknown): boolean {
  if (typeof value === 'number') return !isExactValue(value);
  return isContainer(value) && Object.values(value).some(hasInexact);
}

/** Looks level by level, so that no depth overflows the stack. */
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
