import { findAll } from './find-all.ts';
import { formsOf } from './secret-forms.ts';

/** What stands where a credential stood. */
export const redactedCredential = '[redacted:credential]';

/** Values with fewer characters would be found by chance all over a text and are left alone. */
export const shortestSecret = 6;

/**
 * Replaces every occurrence of a secret value with `[redacted:credential]`, or another mark, be it plain, URL-encoded,
 * escaped as JSON or in base64, also in the middle of something longer in base64. Occurrences that
 * overlap are replaced together. Values shorter than 6 characters are ignored. One pass over the text
 * looks for all of them, so a text is to be redacted before it is cut.
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
