import type { RoutedContext } from '../../../http/request-state.ts';
import { readLimits, readOutcomes } from '../../../http/wire/dashboard/agent-task.ts';
import type {
  LimitsJson,
  OutcomeJson,
  OutcomesJson,
} from '../../../http/wire/dashboard/limit-json.ts';
import { isJsonObject, type JsonValue } from '../../../machines/json.ts';
import { asPerson, isPerson } from '../as-person.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { agentOf, pass, whileAsked } from '../relay.ts';
import { ofRunning } from './of-running.ts';

/** Lists the limits of an agent with what is used of them. */
export function listLimits({ workspace }: DashboardPorts) {
  return async function limitLister(ctx: RoutedContext): Promise<void> {
    const line = agentOf(ctx, workspace).line();
    const answer = await line.json({ method: 'GET', path: '/limits', signal: whileAsked(ctx) });
    if (answer.status !== 200) return pass(ctx, answer);
    ctx.body = { limits: readLimits(answer.body) } satisfies LimitsJson;
  };
}

/** Lists the calls of all running agents whose outcome nobody knows, and those that people settled. */
export function listOutcomes({ workspace }: DashboardPorts) {
  return async function outcomeLister(ctx: RoutedContext): Promise<void> {
    const asked = { signal: whileAsked(ctx) };
    const read = (state: string, limit: number) =>
      ofRunning(
        workspace,
        `/limits/settlements?state=${state}&limit=${limit}`,
        readOutcomes,
        asked,
      );
    const [open, settled] = await Promise.all([read('open', 100), read('settled', 20)]);
    ctx.body = {
      open: open.found.toSorted(newestFirst),
      settled: settled.found.toSorted(newestFirst),
      unasked: open.unasked,
    } satisfies OutcomesJson;
  };
}

/** Forwards the statement of a person on a call whose outcome nobody knows. */
export function settleOutcome({ workspace, operator }: DashboardPorts) {
  return async function outcomeSettler(ctx: RoutedContext): Promise<void> {
    const line = agentOf(ctx, workspace).line();
    const sent = ctx.request.body as JsonValue;
    const given = isJsonObject(sent) ? sent : {};
    const body = isPerson(ctx) ? given : { ...given, approver: operator };
    const path = '/limits/settlements';
    pass(ctx, await line.json({ method: 'POST', path, body, ...asPerson(ctx) }));
  };
}

function newestFirst(one: OutcomeJson, other: OutcomeJson): number {
  return other.at.localeCompare(one.at);
}
