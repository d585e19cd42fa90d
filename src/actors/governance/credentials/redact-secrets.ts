import { findAll } from './find-all.ts';

/** Replacement for a redacted credential. */
export const redactedCredential = '[redacted:credential]';

/** Minimum length of a redacted value; shorter values would match by chance and are ignored. */
export const shortestSecret = 6;

/**
 * Replaces every occurrence of a secret value by `[redacted:credential]` or another mark: plain, URL-encoded,
 * JSON-escaped or base64, even inside a longer base64 text. Overlapping occurrences are replaced together. Values
 * shorter than 6 characters are ignored. Searches for all values in one pass; redact a string before truncating it.
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

/**
 * Returns every searched form of a secret: plain, JSON-escaped, URL-encoded as a component and as a form field, and
 * base64 and base64url, even inside a longer text.
 */
export function formsOf(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), ...urlForms(secret), ...base64Forms(secret)];
}

function urlForms(secret: string): string[] {
  const component = encodeURIComponent(secret.toWellFormed());
  const parameter = new URLSearchParams([['', secret]]).toString().slice(1);
  const asForm = component.replaceAll('%20', '+');
  return [component, parameter, asForm].flatMap((form) => [
    form,
    form.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
  ]);
}

/**
 * In base64, preceding bytes shift the characters of a value, so there are three forms. Characters that encode bits of
 * neighbouring bytes as well are excluded.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inside = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const whole = Math.floor(((shift + bytes.length) * 8) / 6);
    return encoded.slice(Math.ceil((shift * 8) / 6), whole);
  });
  const padded = bytes.toString('base64');
  return [padded, padded.replace(/=+$/, ''), ...inside].flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}
