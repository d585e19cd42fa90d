import { cutToBytes } from './cut-to-bytes.ts';

const maximumDepth = 16;
const maximumStringBytes = 16 * 1024;
const tooDeep = '"[omitted: nested too deep]"';

/** Strings that are their own JSON. */
const plain = /^[ !#-[\]-~]*$/;

/** The types of values that JSON cannot represent. */
const unrecorded: ReadonlySet<string> = new Set(['undefined', 'function', 'symbol']);

/** The JSON of values that a line omits. */
const empty: readonly string[] = ['null', '""', '{}', '[]'];

/**
 * Returns the RFC 8785 JSON of a value without exceptions or loss of meaning; `undefined` for a value that JSON cannot
 * represent.
 *
 * Strings and keys become well-formed and are truncated at 16 KiB. Integers beyond 2^53-1 and non-finite numbers become
 * strings. Values nested deeper than 16 levels, with the line as level 1, are replaced by a marker.
 *
 * @param depth the level of `value` within its line
 */
function recordable(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return isPlain(value) ? `"${value}"` : JSON.stringify(recordableText(value));
    case 'number':
      return isExact(value) ? JSON.stringify(value) : `"${value}"`;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      return `"${value}"`;
    case 'object':
      if (value === null) return 'null';
      if (depth > maximumDepth) return tooDeep;
      return Array.isArray(value)
        ? `[${Array.from(value, (item) => recordable(item, depth + 1) ?? 'null').join(',')}]`
        : recordableObject(value, depth);
    default:
      return undefined;
  }
}

/** Returns the JSON of an object; a line, which has depth 1, omits empty members. */
export function recordableObject(value: object, depth = 1): string {
  const members = value as Record<string, unknown>;
  const keys = Object.keys(value);
  const renamed = keys.every(isPlain) ? null : recordableNames(members);
  // `sort` orders by UTF-16 code units, as RFC 8785 does.
  const names = renamed === null ? keys.sort() : [...renamed.keys()].sort();
  let text = '';
  for (const name of names) {
    const key = renamed === null ? name : (renamed.get(name) as string);
    const member = recordable(members[key], depth + 1);
    if (member === undefined || (depth === 1 && empty.includes(member))) continue;
    if (text !== '') text += ',';
    text += `${renamed === null ? `"${name}"` : JSON.stringify(name)}:${member}`;
  }
  return `{${text}}`;
}

/** Returns the keys of an object by recordable name. Names that become equal get a number, so that no member is lost. */
function recordableNames(members: Record<string, unknown>): Map<string, string> {
  const keys = new Map<string, string>();
  let clashes = 0;
  for (const [key, member] of Object.entries(members)) {
    if (unrecorded.has(typeof member)) continue;
    const name = recordableText(key);
    let free = name;
    while (keys.has(free)) {
      clashes += 1;
      free = `${name}~${clashes}`;
    }
    keys.set(free, key);
  }
  return keys;
}

function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

function isPlain(text: string): boolean {
  return text.length <= maximumStringBytes && plain.test(text);
}

function recordableText(text: string): string {
  if (text.length * 3 <= maximumStringBytes) return text.toWellFormed();
  const originalSize = () => Buffer.byteLength(text);
  return cutToBytes({ text, isPart: false, originalSize }, maximumStringBytes);
}
