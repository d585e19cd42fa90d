/** Maximum sizes of a response, in bytes. */
export interface AnswerBounds {
  /** Limit for a successful response; a longer one fails. */
  bytes: number;
  /** Limit for an error response; a longer one is truncated. Defaults to `bytes`. */
  errorBytes?: number;
}

/** A response exceeded its limit. */
export class TooLongError extends Error {
  override readonly name = 'TooLongError';
}

/** The response is a web page, so the URL is not that of a model. */
export class PageError extends Error {
  override readonly name = 'PageError';
}

/**
 * Wraps a fetch for model providers. Redirects are not followed, since they would carry the key and the text to an
 * unconfigured URL, and responses are limited in size. Rejects with a PageError for a web page.
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
