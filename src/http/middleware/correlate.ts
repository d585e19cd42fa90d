import type { Context, Middleware, Next } from 'koa';
import type { Ids } from '../../actors/ports/ids.ts';
import { idForm } from '../../machines/task/task-id.ts';
import type { RequestState } from '../request-state.ts';

/**
 * Assigns each request a correlation ID and returns it in the response. A well-formed ID of the caller is used as is.
 */
export function correlate({ ids }: { ids: Ids }): Middleware<RequestState> {
  return function correlator(ctx: Context, next: Next) {
    const given = ctx.get('X-Correlation-ID');
    const correlationId = idForm.test(given) ? given : ids.next();
    ctx.state.correlationId = correlationId;
    ctx.set('X-Correlation-ID', correlationId);
    return next();
  };
}
