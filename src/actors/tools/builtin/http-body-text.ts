const mebibyte = 1024 * 1024;

/** Media types of text, regardless of parameters. */
const textual =
  /^(?:text\/.+|application\/(?:.+\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|ndjson|x-www-form-urlencoded|graphql|toml|sql)|image\/svg\+xml|.+\+(?:json|xml|text|yaml))$/;

/**
 * Reads a response body as text, up to 1 MiB by default, with a mark if it was truncated; for a body that is not text,
 * returns a sentence in brackets instead. Rejects with connection errors.
 */
export async function bodyText(response: Response, mebibytes = 1): Promise<string> {
  const { body } = response;
  if (body === null) return '';
  const [type = '', ...rest] = (response.headers.get('content-type') ?? '').split(';');
  const mediaType = type.trim().toLowerCase();
  if (mediaType !== '' && !textual.test(mediaType)) {
    await body.cancel();
    return binary(mediaType);
  }
  const text = await readText(body, charsetIn(rest.join(';')), mebibytes);
  return text.includes('\0') ? binary(mediaType === '' ? 'of no stated type' : mediaType) : text;
}

function binary(mediaType: string): string {
  const printable = mediaType.replace(/[^\x20-\x7e]/g, '').slice(0, 100);
  return `[omitted: the body is ${printable}, not text]`;
}

/** Returns the declared character set; an unknown one is read as UTF-8. */
function charsetIn(parameters: string): string {
  const label = /charset\s*=\s*"?([^\s";]+)/i.exec(parameters)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return 'utf-8';
  }
}

async function readText(
  body: AsyncIterable<Uint8Array<ArrayBuffer>>,
  charset: string,
  mebibytes: number,
): Promise<string> {
  const longest = mebibytes * mebibyte;
  const decoder = new TextDecoder(charset);
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    // Leaving the loop cancels the rest.
    if (text.length > longest)
      return `${text.slice(0, longest).toWellFormed()}\n[cut off after ${mebibytes} MiB]`;
  }
  return text + decoder.decode();
}
