import type { RoutedContext } from '../../../http/request-state.ts';
import type { DeferralsJson } from '../../../http/wire/dashboard/held-call-json.ts';
import { Problem } from '../../../http/wire/problem.ts';
import { HeldCalls } from '../../workspace/held-calls.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { queryText } from '../query-text.ts';

/** Maximum number of one agent's calls shown on a page. */
const mostOfOneAgent = 10_000;

/** Lists the waiting calls of all running agents, earliest deadline first. */
export function listHeldCalls(ports: DashboardPorts) {
  const { workspace, looks, clock } = ports;
  const held = new HeldCalls(ports, looks);
  return async function heldCallLister(ctx: RoutedContext): Promise<void> {
    const running = workspace.agents().filter(({ state }) => state === 'running');
    const most = mostOf(ctx);
    if (most !== null) for (const { id } of running) looks.deepen(id, most);
    const { deferrals, total, unasked } = await held.of(running);
    ctx.body = {
      deferrals: deferrals.toSorted((one, other) => one.expires_at.localeCompare(other.expires_at)),
      total,
      unasked,
      now: new Date(clock.now()).toISOString(),
    } satisfies DeferralsJson;
  };
}

/** Reads `most`, the number of calls requested per agent. Throws a 400 Problem. */
function mostOf(ctx: RoutedContext): number | null {
  const text = queryText(ctx, 'most');
  if (text === null) return null;
  const most = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (most >= 1 && most <= mostOfOneAgent) return most;
  throw new Problem('invalid_query', `most must be a whole number from 1 to ${mostOfOneAgent}`);
}
