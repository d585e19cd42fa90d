import type { RoutedContext } from '../../../http/request-state.ts';
import { readGrants } from '../../../http/wire/dashboard/agent-task.ts';
import type { GrantsJson } from '../../../http/wire/dashboard/grant-json.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { agentOf, pass, passedPart, whileAsked } from '../relay.ts';
import { ofRunning } from './of-running.ts';

/** Lists the approvals that release later calls in all running agents, those that end first at the top. */
export function listGrants({ workspace }: DashboardPorts) {
  return async function grantLister(ctx: RoutedContext): Promise<void> {
    const { found, unasked } = await ofRunning(workspace, '/grants', readGrants, {
      signal: whileAsked(ctx),
    });
    const grants = found.toSorted((one, other) => one.until.localeCompare(other.until));
    ctx.body = { grants, unasked } satisfies GrantsJson;
  };
}

/** Ends an approval that releases later calls. */
export function revokeGrant({ workspace }: DashboardPorts) {
  return async function grantRevoker(ctx: RoutedContext): Promise<void> {
    const path = `/grants/${passedPart(ctx, 'grant')}`;
    pass(ctx, await agentOf(ctx, workspace).line().json({ method: 'DELETE', path }));
  };
}
