import canonicalize from 'canonicalize';
import type { JsonValue } from '../../../machines/json.ts';

/**
 * Returns whether `text`, from which `value` was parsed, is in RFC 8785 canonical form.
 *
 * Native JSON formats strings and numbers like RFC 8785, so text with sorted names is canonical. It differs for numeric
 * names and lone surrogates; in these cases the canonical form is generated.
 */
export function isCanonicalText(value: JsonValue, text: string): boolean {
  try {
    if (JSON.stringify(value) === text && !text.includes('\\ud') && isSorted(value)) return true;
  } catch {
    // Nested too deeply for recursion, which `canonicalize` does not use.
  }
  try {
    return canonicalize(value) === text;
  } catch {
    // Escaped lone surrogates, and numbers beyond a double, have no canonical form.
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
