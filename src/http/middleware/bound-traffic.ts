import type { Context, Middleware, Next } from 'koa';
import type { RequestState } from '../request-state.ts';
import { Traffic, TrafficCount, type TrafficLimits } from '../traffic.ts';
import { fieldOf } from '../wire/field-of.ts';
import { Problem } from '../wire/problem.ts';
import { isCancel } from './is-cancel.ts';

/** Paths with short answers that work while other callers read nothing: health, and decisions. */
const inFewWords = /^\/(healthz|readyz|tasks\/[^/]+\/decisions)$/;

/** Bytes reserved before an answer is made; a caller without room for them has none for a longer one. */
const aPage = 64 * 1024;

/**
 * Answers 503 to a caller who leaves too much unread, or while all callers together do, before the answer is made;
 * disconnects a reader who takes nothing of an answer (docs/contract/transports.md). Adds `ctx.state.traffic`, which
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
    // As text: how long it is must be known before any of it is written.
    if (typeof body === 'object' && !Buffer.isBuffer(body)) ctx.body = JSON.stringify(body);
    const { length: bytes } = ctx.response;
    const shared = (ctx.state as RequestState).isShared === true;
    // A card or a description that strangers leave unread must take nothing from who has signed in.
    if (!shared && !traffic.mayHave(bytes)) throw tooMuch(taskIdIn(body));
    traffic.hold(ctx.res, { bytes, shared });
  };
}

/** A task that has been sent goes on or is done; only its answer is not given. */
function tooMuch(taskId: string | null): Problem {
  const error =
    'too many answers wait to be read; read them or close their connections, then try again';
  const unanswered = `too many answers wait to be read; that of this task is at GET /tasks/${taskId}`;
  const body = taskId === null ? { error } : { error: unanswered, task_id: taskId };
  return new Problem(503, body, { 'Retry-After': '1' });
}

function taskIdIn(body: unknown): string | null {
  const task = fieldOf(body, 'kind') === 'task' ? body : fieldOf(body, 'result');
  const id = fieldOf(task, 'id');
  return typeof id === 'string' ? id : null;
}
