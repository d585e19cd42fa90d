import type { RoutedContext } from '../../../http/request-state.ts';
import { parseJson } from '../../../machines/json.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { agentOf, pass, passedPart, whileAsked } from '../relay.ts';

/** Relays the signed receipt of a call from its agent. The page verifies it. */
export function receiptOfCall({ workspace }: DashboardPorts) {
  return async function receiptGetter(ctx: RoutedContext): Promise<void> {
    const agent = agentOf(ctx, workspace);
    const path = `/tasks/${passedPart(ctx, 'tid')}/calls/${passedPart(ctx, 'call')}/receipt`;
    const signal = whileAsked(ctx);
    const { status, text } = await agent.line().text({ method: 'GET', path, signal });
    if (status !== 200) return pass(ctx, { status, body: parseJson(text) ?? {} });
    ctx.type = 'application/jose';
    ctx.body = text;
  };
}
