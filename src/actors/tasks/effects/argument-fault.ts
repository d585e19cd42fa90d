import { isJsonObject } from '../../../machines/json.ts';

/** How deep the arguments of a call may be nested; the same as for a request (contract section 5). */
const deepest = 64;

/** How long the arguments of a call may be as JSON, in bytes. */
const longest = 1024 * 1024;

/**
 * Returns in one sentence why what a model gave as arguments cannot be taken: it is no object, nested
 * too deep, too large or not to be written as JSON; `null` when it can.
 */
export function argumentFault(tool: string, args: unknown): string | null {
  if (!isJsonObject(args)) return `the arguments of ${tool} must be an object`;
  if (isDeeper(args, deepest)) {
    return `the arguments of ${tool} are nested deeper than ${deepest} levels`;
  }
  if (hasUnwritable(args)) {
    return `the arguments of ${tool} hold a number that is too large for JSON; numbers end at 1.8e308`;
  }
  if (Buffer.byteLength(JSON.stringify(args)) > longest) {
    return `the arguments of ${tool} are larger than 1 MiB`;
  }
  return null;
}

/** A model's 1e400 is read as infinite, which JSON cannot carry: what runs would not be what was shown. */
function hasUnwritable(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return isContainer(value) && Object.values(value).some(hasUnwritable);
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
