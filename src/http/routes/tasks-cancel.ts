import { isTaskId } from '../../machines/task/task-id.ts';
import type { RoutedContext } from '../request-state.ts';
import { readCancelReason } from '../wire/cancel-reason.ts';
import { Problem } from '../wire/problem.ts';
import { presentTask } from '../wire/task.ts';

/** `POST /tasks/{id}/cancel`: cancels a task; a final task is returned unchanged (docs/contract/transports.md). */
export function tasksCancel() {
  return async function cancel(ctx: RoutedContext) {
    const { id } = ctx.params;
    const reason = readCancelReason(ctx.request.body);
    const task = isTaskId(id) ? await ctx.state.tasks.cancel(id, reason) : undefined;
    if (task === undefined) throw new Problem('task_not_found', 'task not found');
    ctx.body = presentTask(task);
  };
}
