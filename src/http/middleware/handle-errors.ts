import type { Context, Middleware, Next } from 'koa';
import type { Log } from '../../actors/ports.ts';
import { SystemError, type SystemErrorCode } from '../../actors/system.ts';
import type { RequestState } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';

const statusOf: Record<SystemErrorCode, number> = {
  task_running: 409,
  unknown_task: 404,
  starting: 503,
  shutting_down: 503,
  unrecorded: 503,
  unknown_machine_version: 409,
};

/**
 * Answers every error with JSON; one that is not meant for callers is logged and told as a fixed text. An answer
 * that has begun is cut off instead, since its status can no longer tell.
 */
export function handleErrors({ log }: { log: Log }): Middleware<RequestState> {
  return async function errorHandler(ctx: Context, next: Next) {
    try {
      await next();
      describeUnmatched(ctx);
    } catch (error) {
      const problem = problemOf(error);
      if (problem.status === 500) log.error({ error, path: ctx.path }, 'http: request failed');
      if (ctx.headerSent) return cutOff(ctx, problem);
      ctx.status = problem.status;
      ctx.set(problem.headers);
      ctx.body = problem.body;
    }
  };
}

/** Says in which way an error reaches the caller. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof SystemError) {
    return new Problem(statusOf[error.code], { error: error.message });
  }
  if (error instanceof URIError) return new Problem(400, { error: 'the path is not valid' });
  return new Problem(500, { error: 'internal error' });
}

function cutOff(ctx: Context, { message }: Problem): void {
  (ctx.state as RequestState).cutOff = message;
  ctx.respond = false;
  ctx.res.destroy();
}

const unmatched: Record<number, string> = {
  404: 'not found',
  405: 'method not allowed',
};

function describeUnmatched(ctx: Context): void {
  const { status } = ctx;
  const error = unmatched[status];
  if (error === undefined || (ctx.body !== undefined && ctx.body !== null)) return;
  ctx.body = { error };
  ctx.status = status;
}
