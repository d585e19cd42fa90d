import type { JsonObject, JsonValue } from '../../../machines/json.ts';

const maximumDepth = 16;
const maximumStringBytes = 16 * 1024;
const tooDeep = '[omitted: nested too deep]';

const encoder = new TextEncoder();

/**
 * Converts a value to one that RFC 8785 can represent without exceptions or loss of meaning.
 *
 * Strings and keys become well-formed and are truncated at 16 KiB. Integers beyond 2^53-1 and non-finite numbers become
 * strings. Values nested deeper than 16 levels, with the line as level 1, are replaced by a marker. Values that JSON
 * cannot represent (`undefined`, functions) become `undefined`.
 *
 * @param depth the level of `value` within its line
 */
function recordable(value: unknown, depth: number): JsonValue | undefined {
  switch (typeof value) {
    case 'string':
      return recordableText(value);
    case 'number':
      return recordableNumber(value);
    case 'boolean':
      return value;
    case 'bigint':
      return recordableText(String(value));
    case 'object':
      if (value === null) return null;
      if (depth > maximumDepth) return tooDeep;
      return Array.isArray(value)
        ? value.map((item) => recordable(item, depth + 1) ?? null)
        : recordableObject(value, depth);
    default:
      return undefined;
  }
}

/**
 * Like `recordable`, for the members of an object at level `depth`; members without a value are dropped. Names that
 * become equal get a number, so that no member overwrites another.
 */
export function recordableObject(value: object, depth: number): JsonObject {
  const result: JsonObject = {};
  let clashes = 0;
  for (const [key, member] of Object.entries(value)) {
    const kept = recordable(member, depth + 1);
    if (kept === undefined) continue;
    const name = recordableText(key);
    let free = name;
    while (Object.hasOwn(result, free)) {
      clashes += 1;
      free = `${name}~${clashes}`;
    }
    setMember(result, free, kept);
  }
  return result;
}

function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name === '__proto__') {
    // An assignment to `__proto__` would set the prototype and lose the member.
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      configurable: true,
    });
  } else {
    object[name] = value;
  }
}

function recordableNumber(value: number): number | string {
  const exact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return exact ? value : String(value);
}

function recordableText(text: string): string {
  return cutToBytes(text, maximumStringBytes);
}

/**
 * Makes a string well-formed and truncates it to a number of UTF-8 bytes between code points; the marker with the
 * original size is included.
 *
 * @param maximum bytes, at least 64
 */
function cutToBytes(text: string, maximum: number): string {
  if (text.length * 3 <= maximum) return text.toWellFormed();
  const size = Buffer.byteLength(text);
  if (size <= maximum) return text.toWellFormed();
  const marker = ` [cut: ${size} bytes in all]`;
  const { read } = encoder.encodeInto(text, new Uint8Array(maximum - marker.length));
  return text.slice(0, read).toWellFormed() + marker;
}
