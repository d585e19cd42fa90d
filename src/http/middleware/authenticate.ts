import type { Context, Middleware, Next } from 'koa';
import type { Authenticator } from '../../actors/ports.ts';
import type { RequestState } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';

/** Paths that anybody may read (contract section 8). */
const publicPaths: ReadonlySet<string> = new Set([
  '/healthz',
  '/readyz',
  '/.well-known/service-audit-keys',
]);

/** Establishes who is calling, or refuses with 401 (contract section 8). */
export function authenticate({
  authenticator,
}: {
  authenticator: Authenticator;
}): Middleware<RequestState> {
  return async function authentication(ctx: Context, next: Next) {
    ctx.state.caller = null;
    if (publicPaths.has(ctx.path) || ctx.method === 'OPTIONS') return void (await next());
    const verdict = await authenticator.verify(bearerOf(ctx.get('Authorization')));
    if (verdict.kind === 'rejected') {
      throw new Problem(
        401,
        { error: 'unauthorized', message: verdict.message },
        { 'WWW-Authenticate': 'Bearer' },
      );
    }
    ctx.state.caller = verdict.kind === 'verified' ? verdict.caller : null;
    await next();
  };
}

function bearerOf(authorization: string): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}
