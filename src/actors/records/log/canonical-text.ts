import canonicalize from 'canonicalize';
import type { JsonValue } from '../../../machines/json.ts';

/**
 * Returns whether a text, which `value` was parsed from, is in the canonical form of RFC 8785.
 *
 * Native JSON writes strings and numbers as RFC 8785 does, so that where every name is in its place its text is
 * the canonical one. It differs in names that look like numbers and in lone surrogates; then the form is made.
 */
export function isCanonicalText(value: JsonValue, text: string): boolean {
  try {
    if (JSON.stringify(value) === text && !text.includes('\\ud') && isSorted(value)) return true;
  } catch {
    // Nested too deep for recursion, which the other way does without.
  }
  try {
    return canonicalize(value) === text;
  } catch {
    // Escaped lone surrogates and numbers beyond a double have no canonical form.
    return false;
  }
}

function isSorted(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((item) => isSorted(item));
  let previous = '';
  for (const [name, member] of Object.entries(value)) {
    if (name < previous || !isSorted(member)) return false;
    previous = name;
  }
  return true;
}
