import type { Context, Middleware, Next } from 'koa';
import type { Ids } from '../../actors/ports.ts';
import type { RequestState } from '../request-state.ts';

const acceptable = /^[A-Za-z0-9._:-]{1,128}$/;

/** Gives every request its correlation id, the caller's own where it is well formed, and says it back. */
export function correlate({ ids }: { ids: Ids }): Middleware<RequestState> {
  return function correlator(ctx: Context, next: Next) {
    const given = ctx.get('X-Correlation-ID');
    const correlationId = acceptable.test(given) ? given : ids.next();
    ctx.state.correlationId = correlationId;
    ctx.set('X-Correlation-ID', correlationId);
    return next();
  };
}
