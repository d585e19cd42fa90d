import { SystemError } from '../actors/system-error.ts';
import type { Task } from '../machines/domain/task.ts';
import { forgetMessage } from './forget-message.ts';
import { holdOpen } from './hold-open.ts';
import { problemOf } from './middleware/handle-errors.ts';
import type { RoutedContext } from './request-state.ts';
import { tellUsage } from './tell-usage.ts';
import { withMembers } from './wire/problem.ts';

/**
 * Holds the request open until its task is final. Returns `null` if the client disconnects, which ends the wait and
 * never the task. Throws a Problem that names the task if the wait fails.
 */
export async function awaitTask(ctx: RoutedContext, id: string): Promise<Task | null> {
  forgetMessage(ctx);
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  ctx.res.once('close', leave);
  const hold = holdOpen(ctx);
  try {
    const task = await ctx.state.tasks.settled(id, gone.signal, hold.follow);
    tellUsage(ctx, task);
    return task;
  } catch (error) {
    if (gone.signal.aborted) return null;
    if (!(error instanceof SystemError)) throw error;
    throw withMembers(problemOf(error), { task_id: id });
  } finally {
    hold.release();
    ctx.res.off('close', leave);
  }
}
