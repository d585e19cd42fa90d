import { isTaskId } from '../../machines/task/task-id.ts';
import type { RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';

/** `GET /tasks/{id}/inspection`: a task's path in the format of the Stately inspector, if the inspector is on. */
export function tasksInspection() {
  return async function inspect(ctx: RoutedContext) {
    const { id } = ctx.params;
    const task = isTaskId(id) ? await ctx.state.tasks.find(id) : undefined;
    if (task === undefined) throw new Problem('task_not_found', 'task not found');
    const events = await ctx.state.tasks.inspectionOf(task.id);
    if (events === null) throw new Problem('inspection_off', off);
    ctx.body = { events };
  };
}

const off = 'the inspector of this agent is off; start the agent with --inspect';
