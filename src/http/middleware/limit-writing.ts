import type { Context, Middleware, Next } from 'koa';

/**
 * Cuts off an answer after so many milliseconds, held or streamed; 0 never does. The task goes on as after any caller
 * who leaves (docs/contract/transports.md).
 */
export function limitWriting({ writeTimeout }: { writeTimeout: number }): Middleware {
  if (writeTimeout === 0) return (_: Context, next: Next) => next();
  return function writingLimiter({ req, res }: Context, next: Next) {
    const timer = setTimeout(() => req.socket.destroy(), writeTimeout);
    res.once('close', () => clearTimeout(timer));
    return next();
  };
}
