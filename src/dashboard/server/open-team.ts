import type Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { OpenSession } from '../../actors/ports/web-sessions.ts';
import { isRead } from '../../http/middleware/is-read.ts';
import type { PageFiles } from '../../http/middleware/page-files.ts';
import type { RequestState } from '../../http/request-state.ts';
import { confirmSession, findSession } from '../../http/sign-in/find-session.ts';
import { sessionCookies } from '../../http/sign-in/session-cookies.ts';
import { Problem, withMembers } from '../../http/wire/problem.ts';
import type { DashboardPorts } from '../routes/dashboard-ports.ts';
import { SessionStreams } from './session-streams.ts';
import { openTeamAccess, signInPath, type TeamAccess, type TeamOptions } from './team-access.ts';
import { teamRouter } from './team-router.ts';

interface PublicPorts {
  team: TeamAccess;
  cookie: ReturnType<typeof sessionCookies>['session'];
  streams: SessionStreams;
  log: Log;
}

/** The header of a request that follows an action of the person, in contrast to one that the page repeats. */
const activeHeader = 'X-Holdpoint-Active';

/**
 * Admits people to `/api` at the public address: only operators with a session. All others use the approvals page,
 * whose routes check sessions themselves. The files of the pages are public.
 */
function guardPublic({ team, cookie, streams, log }: PublicPorts): Middleware {
  const { access } = team;
  /** A read does not fail while the issuer does not answer; a change does. */
  async function openSession(ctx: Context): Promise<OpenSession> {
    const found = await findSession(ctx, access, cookie);
    return confirmSession(ctx, access, cookie, found).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 503 && isRead(ctx.method)) return found;
      throw error;
    });
  }

  return async function publicGuard(ctx: Context, next: Next) {
    if (ctx.state.isPublic !== true || !isApi(ctx.path)) return void (await next());
    const open = await openSession(ctx).catch((error: unknown) => {
      const isOut = error instanceof Problem && error.status === 401;
      // Tells the page where people sign in.
      throw isOut ? withMembers(error, { sign_in: signInPath }) : error;
    });
    const { caller } = open.session;
    if (!team.isOperator(caller)) {
      streams.end(open.id);
      const error = 'only an operator may use the dashboard; your approvals are at /approvals/';
      throw new Problem('operator_only', error, { page: '/approvals/' });
    }
    Object.assign(ctx.state, {
      webSession: open,
      isOperator: true,
    } satisfies Partial<RequestState>);
    const person = caller.email ?? caller.userId;
    const { method, path } = ctx;
    if (!isRead(method)) log.info({ person, method, path }, 'dashboard: a change by a person');
    if (!isRead(method) || ctx.get(activeHeader) !== '') {
      cookie.write(ctx, await access.renew(open));
      streams.renew(open.id);
    }
    streams.hold(open.id, ctx.res);
    await next();
  };
}

function isApi(path: string): boolean {
  return path === '/api' || path.startsWith('/api/');
}

/** The people of a dashboard at its public address. */
export interface Team {
  trustedProxies: readonly string[];
  /** Admits only operators to the routes of the dashboard. */
  guard: Middleware;
  /** Creates the routes of the sign-in and of the approvals page. */
  router: (ports: DashboardPorts) => Router<RequestState>;
  close: () => void;
}

export interface TeamPorts {
  directory: string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  log: Log;
  /** The built approvals page; `null` if it does not exist. */
  approvalsPage: PageFiles | null;
}

/** Opens the sign-in of people, their sessions and their pages. Throws errors of the file system and of SQLite. */
export async function openTeam(options: TeamOptions, ports: TeamPorts): Promise<Team> {
  const team = await openTeamAccess(options, ports);
  const cookies = sessionCookies(options.publicOrigin);
  const isAdmitted = (id: string) => isOfOperator(team, id);
  const streams = new SessionStreams({ isAdmitted, idle: team.idle, clock: ports.clock });
  return {
    trustedProxies: team.trustedProxies,
    guard: guardPublic({ team, cookie: cookies.session, streams, log: ports.log }),
    router: (routes) =>
      teamRouter({ team, cookies, streams, approvalsPage: ports.approvalsPage }, routes),
    close() {
      streams.close();
      team.close();
    },
  };
}

/** Returns whether the person of a session is an operator now, or was one before the issuer stopped to answer. */
async function isOfOperator({ access, isOperator }: TeamAccess, id: string): Promise<boolean> {
  const open = await access.read(id);
  const confirmation = open === null ? null : await access.confirm(open);
  if (open === null || confirmation === null || confirmation.kind === 'ended') return false;
  const { session } = confirmation.kind === 'confirmed' ? confirmation.open : open;
  return isOperator(session.caller);
}
