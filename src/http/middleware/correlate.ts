import type { Context, Middleware, Next } from 'koa';
import type { Ids } from '../../actors/ports/ids.ts';
import type { RequestState } from '../request-state.ts';

const acceptable = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Assigns each request a correlation ID and returns it in the response. A well-formed ID of the caller is used as is.
 */
export function correlate({ ids }: { ids: Ids }): Middleware<RequestState> {
  return function correlator(ctx: Context, next: Next) {
    const given = ctx.get('X-Correlation-ID');
    const correlationId = acceptable.test(given) ? given : ids.next();
    ctx.state.correlationId = correlationId;
    ctx.set('X-Correlation-ID', correlationId);
    return next();
  };
}
