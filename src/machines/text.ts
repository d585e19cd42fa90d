import type { JsonValue } from './json.ts';

/**
 * Returns a copy of the first `length` UTF-16 units of a string. A plain `slice` would keep the whole original in memory
 * as long as the part is referenced.
 */
export function keptStart(text: string, length: number): string {
  return text.length <= length
    ? text
    : (JSON.parse(JSON.stringify(text.slice(0, length))) as string);
}

/**
 * Truncates a string to a number of Unicode code points ("runes"). A lone surrogate becomes U+FFFD
 * (docs/contract/governance.md: the context of an audit event has at most 512).
 */
export function cutToRunes(text: string, maximum: number): string {
  if (text.length <= maximum) return text.toWellFormed();
  let end = 0;
  for (let runes = 0; runes < maximum && end < text.length; runes += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return keptStart(text, end).toWellFormed();
}

/** Returns a JSON value with all strings and keys converted to well-formed Unicode. */
export function wellFormed<Value extends JsonValue>(value: Value): Value;
export function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item) => wellFormed(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]),
  );
}
