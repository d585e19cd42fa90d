import { Stream } from 'node:stream';
import { constants } from 'node:zlib';
import type { Context, Middleware, Next } from 'koa';
import compress from 'koa-compress';

/** Bytes below which an answer is sent as it is. */
const threshold = 1_024;

/**
 * Compresses long answers with Brotli or gzip, as the client accepts them. A stream is sent as it comes, and an answer
 * with a strong ETag byte for byte.
 */
export function compressAnswers(): Middleware {
  const compressed = compress({
    threshold,
    encodingPreference: ['br', 'gzip', 'identity'],
    br: { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } },
    zstd: false,
    deflate: false,
  });
  return async function answerCompressor(ctx: Context, next: Next) {
    await compressed(ctx, async () => {
      await next();
      const isExact = String(ctx.response.headers['etag'] ?? '').startsWith('"');
      if (ctx.body instanceof Stream || isExact) ctx.compress = false;
    });
  };
}
