import { LineError, sentenceOf, type WorkspaceAgent } from '../../../actors/workspace/workspace.ts';
import type { RoutedContext } from '../../../http/request-state.ts';
import { readDecided } from '../../../http/wire/dashboard/agent-task.ts';
import type {
  DecidedCallJson,
  DecidedCallsJson,
} from '../../../http/wire/dashboard/held-call-json.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { whileAsked } from '../relay.ts';

/** Maximum number of decisions shown. */
const most = 50;

/** Milliseconds to wait for each agent. */
const patience = 3_000;

/** Lists the last decisions of the dashboard's user in all running agents, newest first, with their outcomes. */
export function listDecided({ workspace }: DashboardPorts) {
  return async function decidedLister(ctx: RoutedContext): Promise<void> {
    const signal = whileAsked(ctx);
    const running = workspace.agents().filter(({ state }) => state === 'running');
    const found = await Promise.all(
      running.map((agent) => decidedOf(agent, signal).catch(() => agent.id)),
    );
    ctx.body = {
      decided: found
        .flatMap((one) => (typeof one === 'string' ? [] : one))
        .toSorted((one, other) => other.decided_at.localeCompare(one.decided_at))
        .slice(0, most),
      unasked: found.filter((one) => typeof one === 'string'),
    } satisfies DecidedCallsJson;
  };
}

async function decidedOf(agent: WorkspaceAgent, signal: AbortSignal): Promise<DecidedCallJson[]> {
  const path = `/deferrals?decided_by=me&limit=${most}`;
  const { status, body } = await agent.line().json({ method: 'GET', path, patience, signal });
  if (status !== 200) throw new LineError('senseless', sentenceOf({ status, body }));
  return readDecided(body, agent.id);
}
