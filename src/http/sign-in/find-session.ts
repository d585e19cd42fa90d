import { timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import type { WebAccess } from '../../actors/ports/web-access.ts';
import type { OpenSession } from '../../actors/ports/web-sessions.ts';
import { isRead } from '../middleware/is-read.ts';
import type { RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';
import type { PageCookie } from './session-cookies.ts';

/** The header in which the page sends the token of its session with each change. */
const csrfHeader = 'X-Holdpoint-CSRF';

/**
 * Returns the session of a request. A change must come from the page itself. Calls `refused` for a cookie without a
 * session. Throws a 401 or 403 Problem.
 */
export async function findSession(
  ctx: Context,
  access: WebAccess,
  cookie: PageCookie,
  refused: () => void = () => undefined,
): Promise<OpenSession> {
  refuseOtherPages(ctx, access.origin);
  const sealed = cookie.read(ctx);
  const open = await access.find(sealed);
  if (open === null) {
    if (sealed !== null) {
      refused();
      cookie.clear(ctx);
    }
    throw new Problem('unauthorized', 'unauthorized', { message: signedOut });
  }
  if (!isRead(ctx.method) && !isEqual(ctx.get(csrfHeader), open.session.csrf)) {
    throw new Problem('csrf_token_required', `send the token of the session in ${csrfHeader}`);
  }
  return open;
}

/**
 * Has the issuer confirm the person of a session before a decision. Clears the cookie of a person whom the issuer
 * refuses, and calls `refused`. Throws a 401 or 503 Problem.
 */
export async function confirmSession(
  ctx: Context,
  access: WebAccess,
  cookie: PageCookie,
  open: OpenSession,
  refused: () => void | Promise<void> = () => undefined,
): Promise<OpenSession> {
  const confirmation = await access.confirm(open);
  if (confirmation.kind === 'confirmed') return confirmation.open;
  if (confirmation.kind === 'unchecked') {
    const error =
      'your account could not be checked at the issuer, so nothing has changed; try again';
    throw new Problem('issuer_unreachable', error, {}, { 'Retry-After': '5' });
  }
  await refused();
  cookie.clear(ctx);
  throw new Problem('unauthorized', 'unauthorized', { message: signedOut });
}

/** Returns the session that `requireSession` found. */
export function sessionOf({ state: { webSession } }: Pick<RoutedContext, 'state'>): OpenSession {
  if (webSession === undefined) throw new Error('the route has no session');
  return webSession;
}

export const signedOut = 'sign in on the page';

/**
 * Browsers send `Origin` with each change and, if they are modern, `Sec-Fetch-Site` with each request. A read without
 * either reveals nothing to another page, and has no effect.
 */
function refuseOtherPages(ctx: Context, origin: string): void {
  const site = ctx.get('Sec-Fetch-Site');
  const isOwn = site === '' || site === 'same-origin' || (site === 'none' && isRead(ctx.method));
  const isFromOrigin = isRead(ctx.method) || ctx.get('Origin') === origin;
  if (!isOwn || !isFromOrigin) {
    throw new Problem('forbidden_origin', 'only the page itself may send this request');
  }
}

function isEqual(sent: string, expected: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Returns true for a read that a page repeats on its own, without its person (docs/contract/approvals-page.md). */
export function isRepeatedRead({ method, query }: Pick<Context, 'method' | 'query'>): boolean {
  return method === 'GET' && query['repeated'] === 'true';
}
