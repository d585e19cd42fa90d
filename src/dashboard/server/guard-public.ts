import type { Context, Middleware, Next } from 'koa';
import type { Log } from '../../actors/ports/log.ts';
import type { OpenSession } from '../../actors/ports/web-sessions.ts';
import { isRead } from '../../http/middleware/is-read.ts';
import type { RequestState } from '../../http/request-state.ts';
import { confirmSession, findSession } from '../../http/sign-in/find-session.ts';
import type { sessionCookies } from '../../http/sign-in/session-cookies.ts';
import { Problem } from '../../http/wire/problem.ts';
import type { SessionStreams } from './session-streams.ts';
import { signInPath, type TeamAccess } from './team-access.ts';

export interface PublicPorts {
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
export function guardPublic({ team, cookie, streams, log }: PublicPorts): Middleware {
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
      throw error instanceof Problem && error.status === 401 ? signedOut(error) : error;
    });
    const { caller } = open.session;
    if (!team.isOperator(caller)) {
      streams.end(open.id);
      const error = 'only an operator may use the dashboard; your approvals are at /approvals/';
      throw new Problem(403, { error, page: '/approvals/' });
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

/** Tells the page where people sign in. */
function signedOut({ body }: Problem): Problem {
  return new Problem(401, { ...body, sign_in: signInPath });
}
