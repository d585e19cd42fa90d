import { EmbedderError } from './embedder.ts';

/**
 * Converts an error of a provider's package to an EmbedderError in our own words. Its message is dropped: it may quote
 * the key, the sent text or the response body.
 */
export async function embedderErrorOf(error: unknown): Promise<EmbedderError> {
  if (error instanceof EmbedderError) return error;
  const { APICallError, RetryError } = await import('ai');
  const last = RetryError.isInstance(error) ? error.lastError : error;
  if (!APICallError.isInstance(last)) {
    return new EmbedderError('bad_answer', 'the answer of the embedder could not be used');
  }
  const { statusCode } = last;
  if (statusCode === undefined) {
    return new EmbedderError('unreachable', `the embedder could not be reached${codeOf(last)}`);
  }
  if (statusCode >= 200 && statusCode < 300) {
    return new EmbedderError('bad_answer', 'the answer of the embedder could not be read');
  }
  return new EmbedderError('refused', `the embedder answered with status ${statusCode}`);
}

/** Returns the system's code for a broken connection, such as ` (ECONNREFUSED)`. */
function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as { code?: unknown }).code;
    if (typeof code === 'string' && /^[A-Z][A-Z_]{2,40}$/.test(code)) return ` (${code})`;
  }
  return '';
}
