import { once } from 'node:events';
import type Router from '@koa/router';
import { z } from 'zod';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import type { A2aLineJson } from '../../http/wire/dashboard/a2a-json.ts';
import { Problem } from '../../http/wire/problem.ts';
import { readAgentUrl } from '../../machines/card/read-agent-url.ts';
import { localUrl } from '../../machines/url-of.ts';
import type { A2aTarget } from '../reading/a2a-inspector.ts';
import { atMost } from './at-most.ts';
import { bodyOf } from './body-of.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { whileAsked } from './relay.ts';

/** Maximum number of concurrent requests to agents. */
const most = 4;

const target = z.object({
  agent: z.string().max(64).optional(),
  url: z.string().max(2_048).optional(),
  loopback: z.boolean().default(false),
  token: z
    .string()
    .regex(/^[\x21-\x7e]{1,16384}$/)
    .optional(),
});

const sending = target.extend({
  method: z.enum(['GET', 'POST']),
  path: z
    .string()
    .max(2_048)
    .regex(/^\/(?!\/)[\x21-\x7e]*$/),
  version: z
    .string()
    .regex(/^[\d.]{0,16}$/)
    .default(''),
  body: z.string().max(262_144).optional(),
});

/** Adds the routes that fetch an agent's card and send requests to an agent. */
export function addA2aRoutes(router: Router<RequestState>, ports: DashboardPorts): void {
  const { inspector } = ports;
  const error = `${most} requests to agents are under way; end one of them first`;
  const bounded = atMost(most, { code: 'too_many_at_once', error });

  router.post('/api/a2a/card', readJson(), async (ctx: RoutedContext) => {
    const asked = bodyOf(ctx, target, unusable);
    const whom = targetOf(asked, ports);
    const signal = whileAsked(ctx);
    ctx.body = await bounded(() => inspector.card(whom, signal));
  });

  router.post('/api/a2a/send', readJson(), async (ctx: RoutedContext) => {
    const { method, path, version, body = null, ...asked } = bodyOf(ctx, sending, unusable);
    const whom = targetOf(asked, ports);
    const signal = whileAsked(ctx);
    await bounded(async () => {
      ctx.status = 200;
      ctx.type = 'application/x-ndjson';
      // The response is streamed.
      ctx.respond = false;
      ctx.res.flushHeaders();
      const tell = async (line: A2aLineJson): Promise<void> => {
        if (!ctx.res.write(`${JSON.stringify(line)}\n`)) await once(ctx.res, 'drain', { signal });
      };
      try {
        await inspector.send(whom, { method, path, version, body }, tell, signal);
        ctx.res.end();
      } catch {
        ctx.res.destroy();
      }
    });
  });
}

const unusable = (path: string) => `${path} cannot be used`;

function targetOf(
  { agent, url, loopback, token: given }: z.infer<typeof target>,
  { workspace }: DashboardPorts,
): A2aTarget {
  const token = given ?? null;
  if ((agent === undefined) === (url === undefined)) {
    throw new Problem('invalid_body', 'name either an agent of the workspace or a url');
  }
  if (agent === undefined) {
    const found = readAgentUrl(url ?? '');
    if (found === null) {
      throw new Problem('invalid_body', 'url must be an http or https URL without a password');
    }
    return { url: found, token, mayBeLoopback: loopback };
  }
  const known = workspace.find(agent);
  if (known === undefined) throw new Problem('agent_not_found', `there is no agent ${agent}`);
  if (known.served === null || known.state !== 'running') {
    throw new Problem('target_not_running', `${agent} does not run; start it first`);
  }
  // Naming an agent of the workspace implies permission for an address on this machine.
  return { url: new URL(localUrl(known.served)), token, mayBeLoopback: true };
}
