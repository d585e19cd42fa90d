import type { Context, Middleware, Next } from 'koa';
import type { RequestState } from '../request-state.ts';
import { Traffic, TrafficCount, type TrafficLimits } from '../traffic.ts';
import { fieldOf } from '../wire/field-of.ts';
import { Problem } from '../wire/problem.ts';
import { isCancel } from './is-cancel.ts';

/** Paths with short responses, which are served even while the unread limit is reached: health and decisions. */
const inFewWords = /^\/(healthz|readyz|tasks\/[^/]+\/decisions)$/;

/** Bytes reserved before a response is built. A caller without room for them has no room for a longer response. */
const aPage = 64 * 1024;

/**
 * Answers 503 before building a response if the caller, or all callers together, have too many unread bytes.
 * Disconnects a reader that reads nothing of a response (docs/contract/transports.md). Adds `ctx.state.traffic`, which
 * also limits event streams and bodies.
 */
export function boundTraffic(limits: Partial<TrafficLimits> = {}): Middleware<RequestState> {
  const count = new TrafficCount(limits);
  return async function trafficBounder(ctx: Context, next: Next) {
    const traffic = new Traffic(count, ctx.state as RequestState);
    ctx.state.traffic = traffic;
    if (!traffic.mayHave(aPage) && !inFewWords.test(ctx.path) && !(await isCancel(ctx))) {
      throw tooMuch(null);
    }
    await next();
    if (ctx.respond === false || ctx.body === undefined || ctx.body === null) return;
    const { body } = ctx;
    // Serialised now, because the length must be known before writing.
    if (typeof body === 'object' && !Buffer.isBuffer(body)) ctx.body = JSON.stringify(body);
    const { length: bytes } = ctx.response;
    const shared = (ctx.state as RequestState).isShared === true;
    // A card or description left unread by unauthenticated clients must not use up the limit of authenticated callers.
    if (!shared && !traffic.mayHave(bytes)) throw tooMuch(taskIdIn(body));
    traffic.hold(ctx.res, { bytes, shared });
  };
}

/** A sent task continues or is complete; only its response is withheld. */
function tooMuch(taskId: string | null): Problem {
  const error =
    taskId === null
      ? 'too many answers wait to be read; read them or close their connections, then try again'
      : `too many answers wait to be read; that of this task is at GET /tasks/${taskId}`;
  const more = taskId === null ? {} : { task_id: taskId };
  return new Problem('overloaded', error, more, { 'Retry-After': '1' });
}

function taskIdIn(body: unknown): string | null {
  const task = fieldOf(body, 'kind') === 'task' ? body : fieldOf(body, 'result');
  const id = fieldOf(task, 'id');
  return typeof id === 'string' ? id : null;
}
