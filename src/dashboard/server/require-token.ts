import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, Middleware, Next } from 'koa';
import { Problem } from '../../http/wire/problem.ts';

/**
 * Rejects requests to `/api` without the token in `Authorization: Bearer`; `null` requires none. The token does not
 * count at the public address, where people sign in.
 */
export function requireToken({ token }: { token: string | null }): Middleware {
  return function tokenAsker(ctx: Context, next: Next) {
    if (ctx.state.isPublic === true) return next();
    if (token === null || !ctx.path.startsWith('/api')) return next();
    const [, shown = ''] = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(ctx.get('Authorization')) ?? [];
    if (isSame(shown, token)) return next();
    throw new Problem(401, { error: 'unauthorized' }, { 'WWW-Authenticate': 'Bearer' });
  };
}

function isSame(shown: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(shown), digest(token));
}
