import { createHash, timingSafeEqual } from 'node:crypto';
import { Stream } from 'node:stream';
import { constants } from 'node:zlib';
import Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import Koa from 'koa';
import compress from 'koa-compress';
import { clientAddress } from '../../http/client-address.ts';
import { allowMethods } from '../../http/middleware/allow-methods.ts';
import { boundTraffic } from '../../http/middleware/bound-traffic.ts';
import { correlate } from '../../http/middleware/correlate.ts';
import { isFromForeignSite } from '../../http/middleware/foreign-site.ts';
import { handleErrors, logBrokenResponses } from '../../http/middleware/handle-errors.ts';
import { hardenResponse } from '../../http/middleware/harden-response.ts';
import { keepAlive } from '../../http/middleware/keep-alive.ts';
import { type PageFiles, pageHeaders, servePage } from '../../http/middleware/page-files.ts';
import { refuseAmbiguous } from '../../http/middleware/refuse-ambiguous.ts';
import type { RequestState } from '../../http/request-state.ts';
import { Problem } from '../../http/wire/problem.ts';
import { addA2aRoutes } from '../routes/a2a-routes.ts';
import { addAgentRoutes } from '../routes/agent-routes.ts';
import { addBuilderRoutes } from '../routes/builder-routes.ts';
import { addChatRoutes } from '../routes/chat-routes.ts';
import { addCreateRoutes } from '../routes/create-routes.ts';
import type { DashboardPorts } from '../routes/dashboard-ports.ts';
import { dashboardProblem } from '../routes/dashboard-problem.ts';
import { addDoctorRoutes } from '../routes/doctor-routes.ts';
import { addFileRoutes } from '../routes/file-routes.ts';
import { addMcpRoutes } from '../routes/mcp-routes.ts';
import { addSignInRoutes } from '../routes/sign-in-routes.ts';
import { addSkillRoutes } from '../routes/skill-routes.ts';
import { addTaskRoutes } from '../routes/task-routes.ts';
import { guardHost } from './guard-host.ts';
import type { Team } from './open-team.ts';

const reads: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Rejects requests from foreign pages, including pages at other ports of this machine. A change must come from this
 * origin or, at the dashboard's own address, from no page at all, and must be JSON. `/api` cannot be read from another site either
 * (docs/contract/dashboard.md). Links to the page itself are allowed anywhere.
 */
function guardOrigin({ publicOrigin }: { publicOrigin: string | null }): Middleware {
  return function originGuard(ctx: Context, next: Next) {
    const { headers, method = '' } = ctx.req;
    const isRead = reads.has(method);
    const isApi = ctx.path === '/api' || ctx.path.startsWith('/api/');
    const origin = headers.origin?.toLowerCase();
    const own =
      ctx.state.isPublic === true ? publicOrigin : `http://${headers.host?.toLowerCase()}`;
    const isForeign = origin !== undefined && origin !== own;
    if (method === 'OPTIONS' || ((isApi || !isRead) && (isForeign || isFromForeignSite(ctx)))) {
      throw new Problem('forbidden_origin', 'forbidden_origin', {}, { Connection: 'close' });
    }
    if (!isRead && !/^application\/json\s*(;|$)/i.test(ctx.get('Content-Type'))) {
      const error = 'send the body as application/json';
      throw new Problem('unsupported_media_type', error, {}, { Connection: 'close' });
    }
    return next();
  };
}

/** Minimum size in bytes for compression. */
const threshold = 1_024;

/**
 * Compresses long responses with Brotli or gzip, as accepted by the client. Streams, and responses with a strong ETag,
 * are not compressed.
 */
function compressAnswers(): Middleware {
  const compressed = compress({
    threshold,
    encodingPreference: ['br', 'gzip', 'identity'],
    br: { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } },
    zstd: false,
    deflate: false,
  });
  return async function answerCompressor(ctx: Context, next: Next) {
    await compressed(ctx, async () => {
      await next();
      const isExact = String(ctx.response.headers['etag'] ?? '').startsWith('"');
      if (ctx.body instanceof Stream || isExact) ctx.compress = false;
    });
  };
}

/**
 * Maximum number of unread bytes in total. One address may use a quarter; all pages on this machine share one address.
 */
const mostUnread = 320 * 1024 * 1024;

/** The dependencies of the server in addition to those of its routes. */
export interface ServerPorts {
  /** The built page; `null` if it does not exist. */
  page: PageFiles | null;
  /** Accepted host names of this server in lower case, without port. */
  hosts: readonly string[];
  /** Returns the listening port. */
  port: () => number;
  /** The people at the public address; `null` without one. */
  team: Team | null;
}

/** Creates the dashboard's server without listening (docs/contract/dashboard.md). */
export function createDashboardApp(ports: DashboardPorts & ServerPorts): Koa<RequestState> {
  const app = new Koa<RequestState>();
  const { team } = ports;
  logBrokenResponses(app, ports.log, 'dashboard: response failed');
  app.use(correlate(ports));
  app.use(hardenResponse());
  app.use(hardenPage());
  app.use(handleErrors(ports));
  app.use(refuseAmbiguous());
  app.use(guardHost(ports));
  app.use(guardOrigin(ports));
  app.use(requireToken(ports));
  app.use(nameClient(team?.trustedProxies ?? []));
  if (team !== null) app.use(team.guard);
  app.use(compressAnswers());
  app.use(boundTraffic({ unread: mostUnread }));
  app.use(keepAlive({ clock: ports.clock, holdHeartbeat: 0 }));
  app.use(servePage(ports));
  app.use(translateErrors());
  app.use(waitForAgents(ports));
  if (team !== null) app.use(team.router(ports).routes());
  const router = new Router<RequestState>({ sensitive: true });
  addAgentRoutes(router, ports);
  addTaskRoutes(router, ports);
  addChatRoutes(router, ports);
  addFileRoutes(router, ports);
  addCreateRoutes(router, ports);
  addSignInRoutes(router, ports);
  addBuilderRoutes(router, ports);
  addSkillRoutes(router, ports);
  addDoctorRoutes(router, ports);
  addMcpRoutes(router, ports);
  addA2aRoutes(router, ports);
  app.use(allowMethods(router));
  app.use(router.routes());
  return app;
}

/** Unread bytes and sign-ins are counted by address. */
function nameClient(trustedProxies: readonly string[]) {
  const addressOf = clientAddress(trustedProxies);
  return function clientNamer(ctx: Context, next: Next) {
    Object.assign(ctx.state, { caller: null, clientAddress: addressOf(ctx.req) });
    return next();
  };
}

/** Paths that are answered before the agents have been discovered. */
const early: ReadonlySet<string> = new Set([
  '/api/events',
  '/api/health',
  '/api/schema',
  '/api/skills',
  '/api/tools',
  '/api/workspace',
]);

/** The server listens before it has discovered the agents; requests for an agent wait for the discovery. */
function waitForAgents({ workspace }: DashboardPorts) {
  return async function agentWaiter(ctx: Context, next: Next) {
    if (!early.has(ctx.path)) await workspace.known();
    await next();
  };
}

function translateErrors() {
  return async function errorTranslator(_: Context, next: Next) {
    try {
      await next();
    } catch (error) {
      throw dashboardProblem(error);
    }
  };
}

/** Sets the headers that isolate the page on every response. */
function hardenPage(): Middleware {
  return function pageHardener(ctx: Context, next: Next) {
    ctx.set(pageHeaders);
    return next();
  };
}

/**
 * Rejects requests to `/api` without the token in `Authorization: Bearer`; `null` requires none. The token does not
 * count at the public address, where people sign in.
 */
function requireToken({ token }: { token: string | null }): Middleware {
  return function tokenAsker(ctx: Context, next: Next) {
    if (ctx.state.isPublic === true) return next();
    if (token === null || !ctx.path.startsWith('/api')) return next();
    const [, shown = ''] = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(ctx.get('Authorization')) ?? [];
    if (isSame(shown, token)) return next();
    throw new Problem('unauthorized', 'unauthorized', {}, { 'WWW-Authenticate': 'Bearer' });
  };
}

function isSame(shown: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(shown), digest(token));
}
