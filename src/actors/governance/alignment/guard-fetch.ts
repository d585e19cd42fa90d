/** The most bytes of an answer that are read; two vectors need a hundredth of it. */
const maximumBytes = 16 * 1024 * 1024;

/**
 * Wraps a fetch for an embedder: a redirect is not followed, since it would carry the key and the text to
 * an address that nobody configured, and an answer is read up to 16 MiB and fails beyond.
 */
export function guardFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limitBytes()), { status, statusText, headers });
  };
}

function limitBytes(): TransformStream<Uint8Array, Uint8Array> {
  let total = 0;
  return new TransformStream({
    transform(chunk, controller) {
      total += chunk.byteLength;
      if (total > maximumBytes) controller.error(new Error('the answer is longer than 16 MiB'));
      else controller.enqueue(chunk);
    },
  });
}
