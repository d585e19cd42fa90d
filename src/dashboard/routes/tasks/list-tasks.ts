import type { RoutedContext } from '../../../http/request-state.ts';
import { presentRow, readAgentTasks } from '../../../http/wire/dashboard/agent-task.ts';
import type { TaskRowJson } from '../../../http/wire/dashboard/task-row-json.ts';
import { Problem } from '../../../http/wire/problem.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { queryText } from '../query-text.ts';
import { agentOf, pass, whileAsked } from '../relay.ts';

/** Maximum number of an agent's result pages searched for tasks that match a filter unknown to the agent. */
const mostPages = 10;

/** Lists an agent's tasks, newest first, with the filters that the agent itself does not offer. */
export function listTasks({ workspace }: DashboardPorts) {
  return async function taskLister(ctx: RoutedContext): Promise<void> {
    const agent = agentOf(ctx, workspace);
    const signal = whileAsked(ctx);
    const isWanted = filterOf(ctx);
    const tasks: TaskRowJson[] = [];
    let next = queryText(ctx, 'cursor');
    const limit = limitOf(ctx);
    for (let page = 0; page < mostPages && tasks.length < limit; page += 1) {
      const query = new URLSearchParams({ limit: String(limit), include: 'artifacts,origin' });
      if (next !== null) query.set('cursor', next);
      for (const name of ['state', 'from', 'to']) {
        const text = queryText(ctx, name);
        if (text !== null) query.set(name, text);
      }
      const path = `/tasks?${query.toString()}`;
      const { status, body } = await agent.line().json({ method: 'GET', path, signal });
      if (status !== 200) return pass(ctx, { status, body });
      const found = readAgentTasks(body);
      tasks.push(...found.tasks.map(presentRow).filter(isWanted));
      next = found.next;
      if (next === null) break;
    }
    ctx.body = { tasks, ...(next === null ? {} : { next_cursor: next }) };
  };
}

function filterOf(ctx: RoutedContext): (row: TaskRowJson) => boolean {
  const tool = queryText(ctx, 'tool');
  const execution = queryText(ctx, 'workflow_execution_id');
  return (row) =>
    (tool === null || row.tool === tool) &&
    (execution === null || row.workflow?.workflow_execution_id === execution);
}

function limitOf(ctx: RoutedContext): number {
  const text = queryText(ctx, 'limit') ?? '100';
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= 500) return limit;
  throw new Problem('invalid_query', 'limit must be a whole number from 1 to 500');
}
