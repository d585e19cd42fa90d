import type { RoutedContext } from '../../../http/request-state.ts';
import { readDecided } from '../../../http/wire/dashboard/agent-task.ts';
import type { DecidedCallsJson } from '../../../http/wire/dashboard/held-call-json.ts';
import { asPerson } from '../as-person.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { whileAsked } from '../relay.ts';
import { ofRunning } from './of-running.ts';

/** Maximum number of decisions shown. */
const most = 50;

/** Lists the last decisions of the dashboard's user in all running agents, newest first, with their outcomes. */
export function listDecided({ workspace }: DashboardPorts) {
  return async function decidedLister(ctx: RoutedContext): Promise<void> {
    const path = `/deferrals?decided_by=me&limit=${most}`;
    const asked = { ...asPerson(ctx), signal: whileAsked(ctx) };
    const { found, unasked } = await ofRunning(workspace, path, readDecided, asked);
    ctx.body = {
      decided: found
        .toSorted((one, other) => other.decided_at.localeCompare(one.decided_at))
        .slice(0, most),
      unasked,
    } satisfies DecidedCallsJson;
  };
}
