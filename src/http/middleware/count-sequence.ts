import type { Context, Middleware, Next } from 'koa';
import type { RequestState } from '../request-state.ts';

/** Numbers the audit events that a request causes before its task exists. */
export function countSequence(): Middleware<RequestState> {
  return function sequenceCounter(ctx: Context, next: Next) {
    let last = 0;
    ctx.state.nextSequence = () => (last += 1);
    return next();
  };
}
