import { isTaskId } from '../../machines/task/task-id.ts';
import type { RoutedContext } from '../request-state.ts';
import { readSeen, TaskStream } from '../task-stream.ts';
import { Problem } from '../wire/problem.ts';

/**
 * `GET /tasks/{id}/events`: joins a task's stream, or resumes it where the client stopped
 * (docs/contract/transports.md).
 */
export function tasksEvents() {
  return async function join(ctx: RoutedContext) {
    const id = ctx.params['id'] ?? '';
    if (!isTaskId(id) || (await ctx.state.tasks.find(id)) === undefined) {
      throw new Problem('task_not_found', 'task not found');
    }
    await new TaskStream(ctx).join(id, readSeen(ctx.get('Last-Event-ID')));
  };
}
