import type { Context, Middleware, Next } from 'koa';
import type { WebAccess } from '../../actors/ports/web-access.ts';
import type { OpenSession } from '../../actors/ports/web-sessions.ts';
import { CallerTasks, type CallerTasksPorts } from '../caller-tasks.ts';
import { type AuthenticatePorts, recordVerdict } from '../middleware/authenticate.ts';
import type { RequestState } from '../request-state.ts';
import { confirmSession, findSession, isRepeatedRead, signedOut } from '../sign-in/find-session.ts';
import type { PageCookie } from '../sign-in/session-cookies.ts';

export type SessionPorts = CallerTasksPorts & AuthenticatePorts & { access: WebAccess };

/**
 * Accepts requests of the page with a session, and binds them to the person's tasks: those that the person requested,
 * and those that list the person as an approver. A change must come from the page itself. `renews` restarts the idle
 * time of the session, unless the page repeats the request on its own. With `refused` the issuer confirms the person
 * first, as before each decision; it is called with the session of a person whom the issuer refuses.
 */
export function requireSession(
  ports: SessionPorts,
  cookie: PageCookie,
  { renews, refused }: { renews: boolean; refused?: (open: OpenSession) => Promise<void> },
): Middleware<RequestState> {
  const { access } = ports;
  return async function sessionGuard(ctx: Context, next: Next) {
    const rejected = (): void => {
      const reason = { kind: 'rejected', reason: 'invalid', tokenKind: 'session' } as const;
      recordVerdict(ports, ctx, { ...reason, message: signedOut });
    };
    const found = await findSession(ctx, access, cookie, rejected);
    const ended = async (): Promise<void> => {
      rejected();
      await refused?.(found);
    };
    const open =
      refused === undefined ? found : await confirmSession(ctx, access, cookie, found, ended);
    const { caller } = open.session;
    recordVerdict(ports, ctx, { kind: 'verified', caller, tokenKind: 'session' });
    const state = ctx.state as RequestState;
    state.webSession = open;
    state.caller = caller;
    state.signedInAt = 'page';
    state.tasks = new CallerTasks({ ...ports, taskAccess: 'requester' }, caller);
    if (renews && !isRepeatedRead(ctx)) cookie.write(ctx, await access.renew(open));
    await next();
  };
}
