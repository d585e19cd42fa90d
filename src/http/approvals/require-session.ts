import type { Context, Middleware, Next } from 'koa';
import type { WebAccess } from '../../actors/ports/web-access.ts';
import { CallerTasks, type CallerTasksPorts } from '../caller-tasks.ts';
import { type AuthenticatePorts, recordVerdict } from '../middleware/authenticate.ts';
import type { RequestState } from '../request-state.ts';
import { confirmSession, findSession, signedOut } from '../sign-in/find-session.ts';
import type { PageCookie } from '../sign-in/session-cookies.ts';

export type SessionPorts = CallerTasksPorts & AuthenticatePorts & { access: WebAccess };

/**
 * Accepts requests of the page with a session, and binds them to the person's tasks: those that the person requested,
 * and those that list the person as an approver. A change must come from the page itself. `renews` restarts the idle
 * time of the session; requests that the page repeats on its own must not. `confirms` has the issuer confirm the person
 * first, as before each decision.
 */
export function requireSession(
  ports: SessionPorts,
  cookie: PageCookie,
  { renews, confirms = false }: { renews: boolean; confirms?: boolean },
): Middleware<RequestState> {
  const { access } = ports;
  return async function sessionGuard(ctx: Context, next: Next) {
    const rejected = (): void => {
      const reason = { kind: 'rejected', reason: 'invalid', tokenKind: 'session' } as const;
      recordVerdict(ports, ctx, { ...reason, message: signedOut });
    };
    const found = await findSession(ctx, access, cookie, rejected);
    const open = confirms ? await confirmSession(ctx, access, cookie, found, rejected) : found;
    const { caller } = open.session;
    recordVerdict(ports, ctx, { kind: 'verified', caller, tokenKind: 'session' });
    const state = ctx.state as RequestState;
    state.webSession = open;
    state.caller = caller;
    state.signedInAt = 'page';
    state.tasks = new CallerTasks({ ...ports, taskAccess: 'requester' }, caller);
    if (renews) cookie.write(ctx, await access.renew(open));
    await next();
  };
}
