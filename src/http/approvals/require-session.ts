import { timingSafeEqual } from 'node:crypto';
import type { Context, Middleware, Next } from 'koa';
import type { WebAccess } from '../../actors/ports/web-access.ts';
import type { OpenSession } from '../../actors/ports/web-sessions.ts';
import { CallerTasks, type CallerTasksPorts } from '../caller-tasks.ts';
import { type AuthenticatePorts, recordVerdict } from '../middleware/authenticate.ts';
import { isRead } from '../middleware/is-read.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';
import type { PageCookie } from './approvals-cookies.ts';

export type SessionPorts = CallerTasksPorts & AuthenticatePorts & { access: WebAccess };

/** The header in which the page sends the token of its session with each change. */
const csrfHeader = 'X-Holdpoint-CSRF';

/**
 * Accepts requests of the page with a session, and binds them to the person's tasks: those that the person requested,
 * and those that list the person as an approver. A change must come from the page itself. `renews` restarts the idle
 * time of the session; requests that the page repeats on its own must not.
 */
export function requireSession(
  ports: SessionPorts,
  cookie: PageCookie,
  { renews }: { renews: boolean },
): Middleware<RequestState> {
  const { access } = ports;
  return async function sessionGuard(ctx: Context, next: Next) {
    refuseOtherPages(ctx, access.origin);
    const sealed = cookie.read(ctx);
    const open = await access.find(sealed);
    if (open === null) {
      if (sealed !== null) {
        const reason = { kind: 'rejected', reason: 'invalid', tokenKind: 'session' } as const;
        recordVerdict(ports, ctx, { ...reason, message: signedOut });
        cookie.clear(ctx);
      }
      throw new Problem(401, { error: 'unauthorized', message: signedOut });
    }
    const { caller, csrf } = open.session;
    if (!isRead(ctx.method) && !isEqual(ctx.get(csrfHeader), csrf)) {
      throw new Problem(403, { error: `send the token of the session in ${csrfHeader}` });
    }
    recordVerdict(ports, ctx, { kind: 'verified', caller, tokenKind: 'session' });
    const state = ctx.state as RequestState;
    state.webSession = open;
    state.caller = caller;
    state.tasks = new CallerTasks({ ...ports, taskAccess: 'requester' }, caller);
    if (renews) cookie.write(ctx, await access.renew(open));
    await next();
  };
}

/** Returns the session of a request behind `requireSession`. */
export function sessionOf({ state: { webSession } }: RoutedContext): OpenSession {
  if (webSession === undefined) throw new Error('a route of the page has no requireSession');
  return webSession;
}

const signedOut = 'sign in on the approvals page';

/**
 * Browsers send `Origin` with each change and, if they are modern, `Sec-Fetch-Site` with each request. A read without
 * either reveals nothing to another page, and has no effect.
 */
function refuseOtherPages(ctx: Context, origin: string): void {
  const site = ctx.get('Sec-Fetch-Site');
  const isOwn = site === '' || site === 'same-origin' || (site === 'none' && isRead(ctx.method));
  const isFromOrigin = isRead(ctx.method) || ctx.get('Origin') === origin;
  if (!isOwn || !isFromOrigin) {
    throw new Problem(403, { error: 'only the approvals page itself may send this request' });
  }
}

function isEqual(sent: string, expected: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
