import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type Router from '@koa/router';
import { z } from 'zod';
import { readConfigText, writeConfigText } from '../../actors/workspace/workspace.ts';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import { Problem } from '../../http/wire/problem.ts';
import { readRange } from '../../http/wire/query.ts';
import type { AuditQuery } from '../reading/audit-reader.ts';
import { bodyOf } from './body-of.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { addPolicyRoutes } from './policy-routes.ts';
import { queryText } from './query-text.ts';
import { agentOf, whileAsked } from './relay.ts';

/** Maximum number of log events per response. */
const mostEvents = 1_000;

/** Milliseconds after which the download of a whole log is aborted if the client reads nothing. */
const patience = 60_000;

/** Adds the routes of an agent's audit log. Reading stops when the client disconnects. */
function addAuditRoutes(
  router: Router<RequestState>,
  { workspace, audit, clock }: DashboardPorts,
): void {
  router.get('/api/agents/:id/audit', async (ctx: RoutedContext) => {
    const agent = agentOf(ctx, workspace);
    const query = {
      limit: Math.min(mostEvents, wholeOf(ctx, 'limit') ?? 200),
      before: wholeOf(ctx, 'before'),
      wanted: wantedOf(ctx, clock.now()),
      isVerified: ctx.query['verified'] !== 'false',
    };
    const found = await audit.page(agent.directory, query, whileAsked(ctx));
    ctx.body = { ...found, keys: await keysOf(agent) };
  });
  router.get('/api/agents/:id/audit/lines', async (ctx: RoutedContext) => {
    const { directory } = agentOf(ctx, workspace);
    const range = { from: wholeOf(ctx, 'from'), to: wholeOf(ctx, 'to') };
    const signal = whileAsked(ctx);
    const { bytes, chunks, close } = await audit.lines(directory, range, signal);
    ctx.status = 200;
    ctx.set('Content-Type', 'application/x-ndjson');
    ctx.set('Content-Length', String(bytes));
    // A log may be larger than memory, so it is streamed with backpressure.
    ctx.respond = false;
    ctx.res.setTimeout(patience, () => ctx.res.destroy());
    ctx.res.flushHeaders();
    try {
      await pipeline(Readable.from(chunks), ctx.res);
    } catch {
      ctx.res.destroy();
    } finally {
      await close();
    }
  });
}

/** Only a running agent reports its signing keys. */
async function keysOf(agent: ReturnType<typeof agentOf>): Promise<unknown[]> {
  if (agent.state !== 'running') return [];
  try {
    const path = '/.well-known/service-audit-keys';
    const { body } = await agent.line().json({ method: 'GET', path });
    const { keys } = Object(body) as { keys?: unknown };
    return Array.isArray(keys) ? (keys as unknown[]) : [];
  } catch {
    return [];
  }
}

/** Reads the search terms and the range of time; `null` if there are none. */
function wantedOf(ctx: RoutedContext, now: number): AuditQuery['wanted'] {
  const [event, task, decision] = [
    queryText(ctx, 'event') ?? '',
    queryText(ctx, 'task') ?? '',
    queryText(ctx, 'decision') ?? '',
  ];
  const range = readRange(ctx.query, now);
  const isOpen = range.from === undefined && range.to === undefined;
  return event + task + decision === '' && isOpen ? null : { event, task, decision, ...range };
}

function wholeOf(ctx: RoutedContext, name: string): number | null {
  const text = ctx.query[name];
  if (text === undefined || text === '') return null;
  if (typeof text === 'string' && /^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new Problem('invalid_query', `${name} must be a whole number above 0`);
}

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
      throw new Problem('if_match_required', error);
    }
    const check = await files.check(directory, content);
    if (!check.valid) {
      ctx.status = 400;
      ctx.body = check;
      return;
    }
    const { isWritten, ...now } = await writeConfigText(directory, { content, etag });
    ctx.set('ETag', now.etag);
    const error = 'service.yaml has changed since it was read; review the current version';
    if (!isWritten) throw new Problem('config_changed', error, now);
    ctx.body = now;
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
