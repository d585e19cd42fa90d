import type { Context, Middleware, Next } from 'koa';
import { CallerTasks, type CallerTasksPorts } from '../caller-tasks.ts';
import type { RequestState } from '../request-state.ts';

/** Sets `ctx.state.tasks` to the tasks that the caller may see. All routes use it. */
export function bindTasks(ports: CallerTasksPorts): Middleware<RequestState> {
  return function taskBinder(ctx: Context, next: Next) {
    const state = ctx.state as RequestState;
    const { taskAccess = ports.taskAccess } = state;
    state.tasks = new CallerTasks({ ...ports, taskAccess }, state.caller);
    state.actAs = (caller) => {
      state.caller = caller;
      state.tasks = new CallerTasks(ports, caller);
    };
    return next();
  };
}
