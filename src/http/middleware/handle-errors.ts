import type Koa from 'koa';
import type { Context, Middleware, Next } from 'koa';
import type { Log } from '../../actors/ports/log.ts';
import { SystemError } from '../../actors/system-error.ts';
import type { RequestState } from '../request-state.ts';
import { presentRefusal } from '../wire/present-refusal.ts';
import { Problem } from '../wire/problem.ts';

/** Error codes of a connection closed by the client. Not failures of this server. */
const clientLeft: ReadonlySet<string> = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ECONNRESET',
  'EPIPE',
]);

/** Logs errors of responses that have begun, except for connections that the client has closed. */
export function logBrokenResponses(app: Koa<RequestState>, log: Log, message: string): void {
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (!clientLeft.has(error.code ?? '')) log.error({ error }, message);
  });
}

/**
 * Answers every error in the format of the called surface. Internal errors are logged and reported as a fixed text, and
 * a response that has begun is cut off.
 */
export function handleErrors({ log }: { log: Log }): Middleware<RequestState> {
  return async function errorHandler(ctx: Context, next: Next) {
    try {
      await next();
      const unmatched = unmatchedOf(ctx);
      if (unmatched !== null) refuse(ctx, unmatched);
    } catch (error) {
      const problem = problemOf(error);
      if (problem.status === 500) log.error({ error, path: ctx.path }, 'http: request failed');
      if (ctx.headerSent) return cutOff(ctx, problem);
      refuse(ctx, problem);
    }
  };
}

/** Converts an error to the Problem for the caller. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof SystemError) {
    const code = error.code === 'unknown_task' ? 'task_not_found' : error.code;
    return new Problem(code, error.message);
  }
  if (error instanceof URIError) return new Problem('invalid_path', 'the path is not valid');
  return new Problem('internal_error', 'internal error');
}

function cutOff(ctx: Context, { message }: Problem): void {
  (ctx.state as RequestState).cutOff = message;
  ctx.respond = false;
  ctx.res.destroy();
}

/** Returns the Problem for a request that no route answered; `null` if a route did. */
function unmatchedOf({ status, body }: Context): Problem | null {
  if (body !== undefined && body !== null) return null;
  if (status === 404) return new Problem('not_found', 'not found');
  return status === 405 ? new Problem('method_not_allowed', 'method not allowed') : null;
}

function refuse(ctx: Context, problem: Problem): void {
  const { method, originalUrl } = ctx;
  // Uses the original URL, because nested routers shorten the request's URL.
  const path = originalUrl.replace(/[?#].*$/s, '');
  ctx.set(problem.headers);
  ctx.body = presentRefusal(problem, { method, path, body: ctx.request.body });
  ctx.status = problem.status;
}
