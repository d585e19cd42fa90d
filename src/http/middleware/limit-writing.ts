import type { Context, Middleware, Next } from 'koa';

/**
 * Cuts off a held or streamed response after this many milliseconds; 0 for never. The task continues as after a
 * client's disconnection (docs/contract/transports.md).
 */
export function limitWriting({ writeTimeout }: { writeTimeout: number }): Middleware {
  if (writeTimeout === 0) return (_: Context, next: Next) => next();
  return function writingLimiter({ req, res }: Context, next: Next) {
    const timer = setTimeout(() => req.socket.destroy(), writeTimeout);
    res.once('close', () => clearTimeout(timer));
    return next();
  };
}
