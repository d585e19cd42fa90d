import type { Clock } from '../../actors/ports/clock.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import type { RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';
import { readFlag, readHistory, readHistoryLength, readTaskQuery } from '../wire/query.ts';
import { presentStates } from '../wire/states.ts';
import { presentTask } from '../wire/task.ts';

/** `GET /tasks/{id}`: the task as committed to disk (docs/contract/transports.md). */
export function tasksGet() {
  return async function get(ctx: RoutedContext) {
    const { id } = ctx.params;
    const task = isTaskId(id) ? await ctx.state.tasks.find(id) : undefined;
    if (task === undefined) throw new Problem('task_not_found', 'task not found');
    const withStates = readHistory(ctx.query);
    ctx.body = presentTask(task, {
      historyLength: readHistoryLength(ctx.query),
      withDecisions: readFlag(ctx.query, 'decisions'),
      withOrigin: withStates,
      states: withStates ? presentStates(task, await ctx.state.tasks.statesOf(task.id)) : undefined,
    });
  };
}

/** `GET /tasks`: a page of tasks, newest first; messages are included only on request (docs/contract/transports.md). */
export function tasksList({ clock }: { clock: Clock }) {
  return async function list(ctx: RoutedContext) {
    const { withOrigin, ...query } = readTaskQuery(ctx.query, clock.now());
    const { tasks, cursor } = await ctx.state.tasks.list(query);
    ctx.body = {
      tasks: tasks.map((task) => presentTask(task, { withOrigin })),
      ...(cursor === null ? {} : { next_cursor: cursor }),
    };
  };
}
