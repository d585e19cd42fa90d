import type { Context, Middleware, Next } from 'koa';
import type { Log } from '../../actors/ports/log.ts';
import type { RequestState } from '../request-state.ts';
import { readInvocationTags } from '../wire/invocation-tags.ts';

/**
 * Records a request's workflow and tenant as tags for its audit events. A header that is not a valid identifier is
 * omitted and named in the log (docs/contract/correlation.md).
 */
export function tagEvents({ log }: { log: Log }): Middleware<RequestState> {
  return function eventTagger(ctx: Context, next: Next) {
    const { tags, dropped } = readInvocationTags((header) => ctx.get(header));
    ctx.state.tags = tags;
    if (dropped.length > 0) log.warn({ headers: dropped }, 'workflow: headers omitted');
    return next();
  };
}
