import type { Context, Middleware, Next } from 'koa';

/** What `countSequence` adds to a request: numbers its events, from 1, until a task does (contract section 10). */
export interface Sequenced {
  nextSequence: () => number;
}

/** Gives every request its own count of the audit events that it causes before a task exists. */
export function countSequence(): Middleware<Sequenced> {
  return function sequenceCounter(ctx: Context, next: Next) {
    let last = 0;
    ctx.state['nextSequence'] = () => (last += 1);
    return next();
  };
}
