import type Router from '@koa/router';
import { z } from 'zod';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import { readMcpServers } from '../../http/wire/dashboard/mcp-servers-json.ts';
import { Problem } from '../../http/wire/problem.ts';
import { bodyOf } from './body-of.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { agentOf, pass, whileAsked } from './relay.ts';

const acceptance = z.strictObject({
  server: z.string().max(100),
  tool: z.string().max(200),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** Adds the routes for the MCP servers of a running agent, and for accepting the version of a tool that was shown. */
export function addMcpRoutes(router: Router<RequestState>, ports: DashboardPorts): void {
  const { workspace, operator } = ports;

  router.get('/api/agents/:id/mcp', async (ctx: RoutedContext) => {
    const line = agentOf(ctx, workspace).line();
    const answer = await line.json({
      method: 'GET',
      path: '/mcp-servers',
      signal: whileAsked(ctx),
    });
    // An agent without servers has no such route.
    if (answer.status === 404) {
      ctx.body = { servers: [] };
      return;
    }
    if (answer.status !== 200) return pass(ctx, answer);
    const servers = readMcpServers(answer.body);
    if (servers === null) throw new Problem('bad_gateway', 'the agent lists its servers wrongly');
    ctx.body = servers;
  });

  router.post('/api/agents/:id/mcp/accept', readJson(), async (ctx: RoutedContext) => {
    const wrong = 'send server, tool, and the sha256 of the version that was shown';
    const { server, ...accepted } = bodyOf(ctx, acceptance, wrong);
    const path = `/mcp-servers/${encodeURIComponent(server)}/accept`;
    const body = { ...accepted, by: personOf(ctx.state) ?? operator };
    pass(ctx, await agentOf(ctx, workspace).line().json({ method: 'POST', path, body }));
  });
}

/** Returns the name of the person who has signed in; `null` at the dashboard's own address. */
function personOf({ webSession }: RequestState): string | null {
  const { caller } = webSession?.session ?? {};
  return caller === undefined ? null : (caller.email ?? caller.userId);
}
