/** How long an answer may be, in bytes. */
export interface AnswerBounds {
  /** Of an answer that is used; it fails beyond. */
  bytes: number;
  /** Of one that reports an error; it is cut beyond. The same when absent. */
  errorBytes?: number;
}

/** An answer was longer than its bounds. */
export class TooLongError extends Error {
  override readonly name = 'TooLongError';
}

/** An answer is a page for people, so that something else than a model answers at the address. */
export class PageError extends Error {
  override readonly name = 'PageError';
}

/**
 * Wraps a fetch for a provider of models: a redirect is not followed, since it would carry the key and the text to
 * an address that nobody configured, and an answer is read up to its bounds. Rejects with a PageError for a page for people.
 */
export function guardFetch(
  fetch: typeof globalThis.fetch,
  { bytes, errorBytes = bytes }: AnswerBounds,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    const { status, statusText, headers, body, ok } = response;
    if (body === null) return response;
    if (ok && headers.get('content-type')?.startsWith('text/html') === true) {
      await body.cancel();
      throw new PageError('the answer is a page for people');
    }
    const bounded = body.pipeThrough(ok ? failBeyond(bytes) : cutBeyond(errorBytes));
    return new Response(bounded, { status, statusText, headers });
  };
}

type Bytes = TransformStream<Uint8Array, Uint8Array>;

function failBeyond(maximum: number): Bytes {
  let total = 0;
  return new TransformStream({
    transform(chunk, controller) {
      total += chunk.byteLength;
      if (total <= maximum) controller.enqueue(chunk);
      else controller.error(new TooLongError(`the answer is longer than ${maximum} bytes`));
    },
  });
}

function cutBeyond(maximum: number): Bytes {
  let left = maximum;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= Math.min(left, chunk.byteLength);
      if (left === 0) controller.terminate();
    },
  });
}
