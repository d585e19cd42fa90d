import type Router from '@koa/router';
import { z } from 'zod';
import { readConfigText, writeConfigText } from '../../actors/workspace/workspace.ts';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import { Problem } from '../../http/wire/problem.ts';
import { addAuditRoutes } from './audit-routes.ts';
import { bodyOf } from './body-of.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { addPolicyRoutes } from './policy-routes.ts';
import { agentOf } from './relay.ts';

const contentBody = z.object({ content: z.string() });

/** Adds the routes for an agent's files: configuration, policy and audit log. */
export function addFileRoutes(router: Router<RequestState>, ports: DashboardPorts): void {
  const { workspace, files } = ports;

  router.get('/api/schema', async (ctx: RoutedContext) => {
    ctx.body = await ports.schema();
  });
  router.get('/api/tools', async (ctx: RoutedContext) => {
    ctx.body = await ports.tools();
  });
  router.get('/api/agents/:id/config', async (ctx: RoutedContext) => {
    const config = await readConfigText(agentOf(ctx, workspace).directory);
    ctx.set('ETag', config.etag);
    ctx.body = config;
  });
  router.put('/api/agents/:id/config', readJson(), async (ctx: RoutedContext) => {
    const { directory } = agentOf(ctx, workspace);
    const content = contentOf(ctx);
    const etag = ctx.get('If-Match');
    if (etag === '') {
      const error = 'send the etag of the configuration that was read as If-Match';
      throw new Problem(428, { error });
    }
    const check = await files.check(directory, content);
    if (!check.valid) {
      ctx.status = 400;
      ctx.body = check;
      return;
    }
    const { isWritten, ...now } = await writeConfigText(directory, { content, etag });
    ctx.set('ETag', now.etag);
    ctx.status = isWritten ? 200 : 412;
    const error = 'service.yaml has changed since it was read; review the current version';
    ctx.body = isWritten ? now : { error, content: now.content, etag: now.etag };
  });
  router.post('/api/agents/:id/config/validate', readJson(), async (ctx: RoutedContext) => {
    ctx.body = await files.check(agentOf(ctx, workspace).directory, contentOf(ctx));
  });
  addPolicyRoutes(router, ports);
  addAuditRoutes(router, ports);
}

function contentOf(ctx: RoutedContext): string {
  return bodyOf(ctx, contentBody, 'content must be the text of service.yaml').content;
}
