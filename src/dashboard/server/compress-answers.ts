import { Stream } from 'node:stream';
import { constants } from 'node:zlib';
import type { Context, Middleware, Next } from 'koa';
import compress from 'koa-compress';

/** Minimum size in bytes for compression. */
const threshold = 1_024;

/**
 * Compresses long responses with Brotli or gzip, as accepted by the client. Streams, and responses with a strong ETag,
 * are not compressed.
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
