/** Encodes text as UTF-8; a surrogate pair may be split across two chunks. */
export async function* encodedChunks(
  chunks: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let held = '';
  for await (const chunk of chunks) {
    if (typeof chunk !== 'string') {
      yield chunk;
      continue;
    }
    const text = held + chunk;
    held = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : '';
    yield encoder.encode(held === '' ? text : text.slice(0, -1));
  }
  if (held !== '') yield encoder.encode(held);
}
