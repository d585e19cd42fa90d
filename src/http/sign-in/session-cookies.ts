import type { Context } from 'koa';
import type { SealedCookie } from '../../actors/ports/web-access.ts';

/** A cookie of a page with a sign-in. */
export interface PageCookie {
  read(ctx: Context): string | null;
  write(ctx: Context, cookie: SealedCookie): void;
  clear(ctx: Context): void;
}

/**
 * Creates the two cookies of the page at an origin. Over https their names make browsers accept them from this host
 * alone. On loopback without https they have another name, with the port, because browsers share cookies between ports.
 */
export function sessionCookies(origin: string): { session: PageCookie; signIn: PageCookie } {
  const { protocol, port } = new URL(origin);
  const isSecure = protocol === 'https:';
  const name = isSecure ? '__Host-holdpoint' : `holdpoint-${port}`;
  const attributes = `Path=/; HttpOnly${isSecure ? '; Secure' : ''}`;
  const session = cookie(name, `${attributes}; SameSite=Strict`);
  return {
    session: {
      ...session,
      write(ctx, sealed) {
        session.write(ctx, sealed);
        // No script can read the cookie, and the page warns before its session ends.
        ctx.set(secondsHeader, String(sealed.seconds));
      },
    },
    // The callback is a navigation from the issuer, with which browsers send no strict cookie.
    signIn: cookie(`${name}-sign-in`, `${attributes}; SameSite=Lax`),
  };
}

/** Header with the seconds after which the session ends without another request. */
const secondsHeader = 'X-Holdpoint-Session-Seconds';

function cookie(name: string, attributes: string): PageCookie {
  const put = (ctx: Context, { value, seconds }: SealedCookie) =>
    ctx.append('Set-Cookie', `${name}=${value}; ${attributes}; Max-Age=${seconds}`);
  return {
    read: (ctx) => ctx.cookies.get(name) ?? null,
    write: put,
    clear: (ctx) => put(ctx, { value: '', seconds: 0 }),
  };
}
