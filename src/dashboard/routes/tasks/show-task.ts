import type { RoutedContext } from '../../../http/request-state.ts';
import {
  presentDecisionsOf,
  presentRow,
  presentStatechart,
  readAgentTask,
  readDeferral,
} from '../../../http/wire/dashboard/agent-task.ts';
import type { TaskDetailJson } from '../../../http/wire/dashboard/task-detail-json.ts';
import { Problem } from '../../../http/wire/problem.ts';
import { isTaskId } from '../../../machines/task/task-id.ts';
import { wholeTaskPath } from '../../reading/agent-tasks.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { agentOf, pass, passedPart, whileAsked } from '../relay.ts';

/** Shows one task with its waiting call, its decisions and its events in the audit log. */
export function showTask({ workspace, audit }: DashboardPorts) {
  return async function taskShower(ctx: RoutedContext): Promise<void> {
    const agent = agentOf(ctx, workspace);
    const id = passedPart(ctx, 'tid');
    const signal = whileAsked(ctx);
    const line = agent.line();
    const [{ status, body }, timeline] = await Promise.all([
      line.json({ method: 'GET', path: wholeTaskPath(id), signal }),
      // The audit page reports an unreadable log.
      audit.timeline(agent.directory, id, signal).catch(() => []),
    ]);
    if (status !== 200) return pass(ctx, { status, body });
    const task = readAgentTask(body);
    if (task === null) throw new Problem('bad_gateway', 'the agent did not return a task');
    const deferral = task.metadata?.deferral?.id;
    const waiting = isTaskId(deferral)
      ? await line.json({ method: 'GET', path: `/deferrals/${deferral}`, signal })
      : null;
    ctx.body = {
      ...presentRow(task),
      task: body,
      statechart: presentStatechart(task),
      decisions: presentDecisionsOf(task),
      deferral: readDeferral(waiting?.body, agent.id),
      timeline,
    } satisfies TaskDetailJson;
  };
}
