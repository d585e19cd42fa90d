import type { RoutedContext } from '../../../http/request-state.ts';
import { readInspection } from '../../../http/wire/dashboard/agent-task.ts';
import type { InspectionJson } from '../../../http/wire/dashboard/inspection-json.ts';
import { Problem } from '../../../http/wire/problem.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { agentOf, pass, passedPart, whileAsked } from '../relay.ts';

/** Returns the recorded events of a task's chart. */
export function inspectTask({ workspace }: DashboardPorts) {
  return async function taskInspector(ctx: RoutedContext): Promise<void> {
    const line = agentOf(ctx, workspace).line();
    const path = `/tasks/${passedPart(ctx, 'tid')}/inspection`;
    const { status, body } = await line.json({ method: 'GET', path, signal: whileAsked(ctx) });
    if (status !== 200) return pass(ctx, { status, body });
    const events = readInspection(body);
    if (events === null) {
      throw new Problem('bad_gateway', 'the agent did not return an inspection');
    }
    ctx.body = { events } satisfies InspectionJson;
  };
}
