import type { Context, Middleware, Next } from 'koa';
import type { Log } from '../../actors/ports.ts';
import type { RequestState } from '../request-state.ts';
import { readInvocationTags } from '../wire/invocation-tags.ts';

/**
 * Notes which workflow and whose tenant a request is part of, for the audit events it causes. A header that no
 * identifier would look like is left out, and the log names it (docs/contract/correlation.md).
 */
export function tagEvents({ log }: { log: Log }): Middleware<RequestState> {
  return function eventTagger(ctx: Context, next: Next) {
    const { tags, dropped } = readInvocationTags((header) => ctx.get(header));
    ctx.state.tags = tags;
    if (dropped.length > 0) log.warn({ headers: dropped }, 'workflow: headers left out');
    return next();
  };
}
