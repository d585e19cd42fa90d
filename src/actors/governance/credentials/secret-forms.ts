/**
 * Returns every form in which a secret is looked for: plain, escaped as JSON, URL-encoded as a component and as a
 * field of a form, and in base64 and base64url, also in the middle of something longer.
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
