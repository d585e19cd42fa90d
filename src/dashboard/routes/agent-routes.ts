import type Router from '@koa/router';
import { z } from 'zod';
import { tailServeLog } from '../../actors/workspace/workspace.ts';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import { presentPerson } from '../../http/wire/approvals-page.ts';
import type { WorkspaceJson } from '../../http/wire/dashboard/workspace-json.ts';
import { Problem } from '../../http/wire/problem.ts';
import { presentAgent } from '../workspace/present-agent.ts';
import { bodyOf } from './body-of.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { agentOf } from './relay.ts';

const startBody = z.object({ passphrase: z.string().max(4_096).optional() }).nullish();

/** Adds the routes of the workspace and its agents' processes. */
export function addAgentRoutes(router: Router<RequestState>, ports: DashboardPorts): void {
  const { workspace, version, newerRelease, token, hub, files, looks } = ports;
  const personIn = ({ state: { webSession } }: RoutedContext) =>
    webSession === undefined ? {} : { person: presentPerson(webSession.session) };
  const list = () => workspace.agents().map((agent) => presentAgent(agent, looks.count(agent.id)));

  router.get('/api/health', (ctx: RoutedContext) => {
    const running = workspace.agents().filter(({ state }) => state === 'running').length;
    ctx.body = { status: 'ok', version, agents_running: running };
  });
  router.get('/api/workspace', (ctx: RoutedContext) => {
    const newer = newerRelease();
    ctx.body = {
      directory: workspace.directory,
      version,
      token_required: token !== null,
      ...personIn(ctx),
      ...(newer === null ? {} : { newer_release: newer }),
    } satisfies WorkspaceJson;
  });
  router.get('/api/events', (ctx: RoutedContext) => hub.serve(ctx));
  router.get('/api/agents', (ctx: RoutedContext) => {
    ctx.body = list();
  });
  router.post('/api/agents/rescan', readJson(), async (ctx: RoutedContext) => {
    await workspace.rescan();
    ctx.body = list();
  });
  router.get('/api/agents/:id', (ctx: RoutedContext) => {
    const agent = agentOf(ctx, workspace);
    ctx.body = presentAgent(agent, looks.count(agent.id));
  });
  router.get('/api/agents/:id/logs', (ctx: RoutedContext) => {
    const { lines = '200' } = ctx.query;
    const count = typeof lines === 'string' && /^\d{1,4}$/.test(lines) ? Number(lines) : 0;
    if (count === 0) throw new Problem('invalid_query', 'lines must be a number from 1 to 9999');
    ctx.body = { lines: tailServeLog(agentOf(ctx, workspace).directory, count) };
  });
  for (const order of ['start', 'stop', 'restart'] as const) {
    router.post(`/api/agents/:id/${order}`, readJson(), async (ctx: RoutedContext) => {
      const agent = agentOf(ctx, workspace);
      const passphrase = bodyOf(ctx, startBody, 'passphrase must be a string')?.passphrase ?? '';
      // Checked here because a start with a wrong passphrase would fail without a message to the user.
      const refused =
        order === 'stop' || passphrase === ''
          ? null
          : await files.refusePassphrase(agent.directory, passphrase);
      if (refused !== null)
        throw new Problem('passphrase_required', refused, { needs_passphrase: true });
      if (order === 'stop') agent.stop();
      else agent[order](passphrase === '' ? null : passphrase);
      ctx.status = 202;
      ctx.body = { status: agent.state };
    });
  }
}
