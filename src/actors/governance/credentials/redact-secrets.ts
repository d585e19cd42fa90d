import { findAll } from './find-all.ts';
import { formsOf } from './secret-forms.ts';

/** Replacement for a redacted credential. */
export const redactedCredential = '[redacted:credential]';

/** Minimum length of a redacted value; shorter values would match by chance and are ignored. */
export const shortestSecret = 6;

/**
 * Replaces every occurrence of a secret value by `[redacted:credential]` or another mark: plain, URL-encoded,
 * JSON-escaped or base64, even inside a longer base64 text. Overlapping occurrences are replaced together. Values
 * shorter than 6 characters are ignored. Searches for all values in one pass; redact a text before truncating it.
 */
export function redactSecrets(
  text: string,
  secretValues: readonly string[],
  mark = redactedCredential,
): string {
  const forms = secretValues
    .filter((value) => value.length >= shortestSecret)
    .flatMap(formsOf)
    .filter((form) => form.length <= text.length);
  if (forms.length === 0) return text;
  const parts: string[] = [];
  let end = 0;
  for (const [start, stop] of findAll(text, forms)) {
    parts.push(text.slice(end, start), mark);
    end = stop;
  }
  return parts.join('') + text.slice(end);
}
