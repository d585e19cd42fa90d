import type { Context, Middleware, Next } from 'koa';
import { CallerTasks, type CallerTasksPorts } from '../caller-tasks.ts';
import type { RequestState } from '../request-state.ts';

/** Puts the tasks that the caller may know of into `ctx.state.tasks`, for every route to work on. */
export function bindTasks(ports: CallerTasksPorts): Middleware<RequestState> {
  return function taskBinder(ctx: Context, next: Next) {
    const state = ctx.state as RequestState;
    state.tasks = new CallerTasks(ports, state.caller);
    return next();
  };
}
