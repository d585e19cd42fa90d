import type Router from '@koa/router';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import type { FiguresJson } from '../../http/wire/dashboard/doctor-json.ts';
import { readFigures } from '../../http/wire/dashboard/read-figures.ts';
import { Problem } from '../../http/wire/problem.ts';
import { messageOf } from '../../machines/message-of.ts';
import { atMost } from './at-most.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { agentOf, pass, whileAsked } from './relay.ts';

/** Maximum number of concurrent agent checks; each needs a process that reads the whole log. */
const most = 2;

/** Adds the routes for an agent's checks, which run on request, and its metrics. */
export function addDoctorRoutes(router: Router<RequestState>, ports: DashboardPorts): void {
  const { workspace, examine } = ports;
  const error = `${most} agents are being checked already; try again when one of them is done`;
  const bounded = atMost(most, { code: 'too_many_at_once', error });

  router.get('/api/agents/:id/doctor', async (ctx: RoutedContext) => {
    const { directory } = agentOf(ctx, workspace);
    const signal = whileAsked(ctx);
    ctx.body = await bounded(() =>
      examine(directory, signal).catch((cause: unknown) => {
        signal.throwIfAborted();
        throw new Problem('agent_timeout', messageOf(cause));
      }),
    );
  });

  router.get('/api/agents/:id/figures', async (ctx: RoutedContext) => {
    const line = agentOf(ctx, workspace).line();
    const { status, text } = await line.text({
      method: 'GET',
      path: '/metrics',
      patience: 5_000,
      signal: whileAsked(ctx),
    });
    if (status !== 200)
      return pass(ctx, { status, body: { error: 'the agent exposes no metrics' } });
    ctx.body = { figures: readFigures(text) } satisfies FiguresJson;
  });
}
