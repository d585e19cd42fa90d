import type { ParsedUrlQuery } from 'node:querystring';
import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Verification } from '../../actors/ports/authentication.ts';
import type { WebAccess } from '../../actors/ports/web-access.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import type { SignedOutJson } from '../wire/approvals-page.ts';
import { html } from '../wire/html.ts';
import { sessionOf } from './find-session.ts';
import type { PageCookie, sessionCookies } from './session-cookies.ts';

/** Where the sign-in of a page is, and what it does with its results. */
export interface SignInPages {
  access: WebAccess;
  cookies: ReturnType<typeof sessionCookies>;
  limited: Middleware<RequestState>;
  /** Path that starts a sign-in. */
  signIn: string;
  /** Path to which the issuer returns. */
  callback: string;
  /** Reads the place to open after the sign-in from the query of its start; only this text returns from the issuer. */
  placeIn: (query: ParsedUrlQuery) => string | null;
  /** Returns the path of the page at a place; `null` is the page itself. */
  pageAt: (place: string | null) => string;
  record: (ctx: Context, verdict: Verification) => void;
}

/** Adds the routes that start and finish a sign-in (docs/contract/approvals-page.md). */
export function addSignInPages(router: Router<RequestState>, pages: SignInPages): void {
  const { access, cookies, limited, signIn, callback, placeIn, pageAt, record } = pages;
  const back = `${access.origin}${pageAt(null)}`;

  router.get(signIn, limited, async (ctx) => {
    const started = await access.start(placeIn(ctx.query), cookies.session.read(ctx));
    if (started.kind === 'refused') return showProblem(ctx, 502, started.problem, back);
    cookies.signIn.write(ctx, started.cookie);
    ctx.redirect(started.url);
  });
  router.get(callback, limited, async (ctx) => {
    const sealed = cookies.signIn.read(ctx);
    cookies.signIn.clear(ctx);
    const ended = await access.finish(ctx.querystring, sealed);
    if (ended.kind === 'refused') {
      const { problem: message } = ended;
      const reason = { reason: 'invalid', tokenKind: 'session', message } as const;
      record(ctx, { kind: 'rejected', ...reason });
      return showProblem(ctx, 400, message, back);
    }
    const { session, cookie, place } = ended;
    record(ctx, { kind: 'verified', caller: session.caller, tokenKind: 'session' });
    cookies.session.write(ctx, cookie);
    ctx.redirect(`${access.origin}${pageAt(place)}`);
  });
}

/** Ends the session of a request, and returns where the issuer ends its own. */
export function signOut(access: WebAccess, cookie: PageCookie) {
  return async function signerOut(ctx: RoutedContext): Promise<void> {
    const to = await access.end(sessionOf(ctx));
    ctx.remove('Set-Cookie');
    cookie.clear(ctx);
    ctx.body = { to } satisfies SignedOutJson;
  };
}

/** A page without scripts, since a sign-in fails before the page is there. */
function showProblem(ctx: RoutedContext, status: number, problem: string, back: string): void {
  ctx.status = status;
  ctx.type = 'html';
  ctx.body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not signed in · Holdpoint</title>
</head>
<body>
<main>
<h1>You are not signed in</h1>
<p>${problem.charAt(0).toUpperCase() + problem.slice(1)}.</p>
<p><a href="${back}">Back to the page</a></p>
</main>
</body>
</html>
`.text;
}
