/** What stands where a credential stood. */
export const redactedCredential = '[redacted:credential]';

/** Values with fewer characters would be found by chance all over a text and are left alone. */
export const shortestSecret = 6;

/**
 * Replaces every occurrence of a secret value with `[redacted:credential]`, be it plain, URL-encoded,
 * escaped as JSON or in base64, also in the middle of something longer in base64. Occurrences that
 * overlap are replaced together. Values shorter than 6 characters are ignored.
 */
export function redactSecrets(text: string, secretValues: readonly string[]): string {
  const forms = new Set(
    secretValues.filter((value) => value.length >= shortestSecret).flatMap(formsOf),
  );
  const found = [...forms].flatMap((form) => occurrences(text, form));
  let redacted = '';
  let end = 0;
  for (const [start, stop] of found.toSorted(([one], [other]) => one - other)) {
    if (start >= end) redacted += text.slice(end, start) + redactedCredential;
    end = Math.max(end, stop);
  }
  return redacted + text.slice(end);
}

function occurrences(text: string, form: string): [number, number][] {
  const found: [number, number][] = [];
  for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) {
    found.push([at, at + form.length]);
  }
  return found;
}

function formsOf(secret: string): string[] {
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
 * In base64 the bytes before a value shift its characters, so there are three forms. The characters
 * that mix its bits with those of its neighbours are left out of them.
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
