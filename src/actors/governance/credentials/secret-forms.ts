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
