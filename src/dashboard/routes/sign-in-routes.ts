import type Router from '@koa/router';
import { z } from 'zod';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import type { SignInStartedJson } from '../../http/wire/dashboard/wizard-json.ts';
import { Problem } from '../../http/wire/problem.ts';
import { bodyOf } from './body-of.ts';
import type { DashboardPorts } from './dashboard-ports.ts';

const said = {
  signed_in: 'You are signed in. Close this page and return to the dashboard.',
  refused: 'You are not signed in. Close this page and see in the dashboard why.',
  called_off: 'This sign-in was canceled. Close this page.',
};

const unknown = 'there is no such sign-in; begin one';

const cancelBody = z.object({ state: z.string().max(1_024) });

const startBody = z.object({ provider: z.string().max(64).optional() }).nullish();

/**
 * Adds the routes of a sign-in (docs/contract/dashboard.md). The callback is outside `/api`, because the browser
 * arrives from another site and without a token. The unguessable state identifies the sign-in.
 */
export function addSignInRoutes(
  router: Router<RequestState>,
  { signIns, publicOrigin }: Pick<DashboardPorts, 'signIns' | 'publicOrigin'>,
): void {
  router.post('/api/oauth/start', readJson(), async (ctx: RoutedContext) => {
    const body = bodyOf(ctx, startBody, 'provider must be the name of a provider');
    const all = await signIns();
    const provider = body?.provider ?? 'openai';
    const started = await all.start(provider, `${originOf(ctx, publicOrigin)}/oauth/callback`);
    ctx.body = started satisfies SignInStartedJson;
  });
  router.get('/api/oauth/status', async (ctx: RoutedContext) => {
    const { state } = ctx.query;
    const status = typeof state === 'string' ? (await signIns()).status(state) : null;
    if (status === null) throw new Problem('sign_in_not_found', unknown);
    ctx.body = status;
  });
  router.post('/api/oauth/cancel', readJson(), async (ctx: RoutedContext) => {
    const { state } = bodyOf(ctx, cancelBody, 'state must be that of a sign-in');
    const all = await signIns();
    const isOff = all.cancel(state);
    if (isOff === null) throw new Problem('sign_in_not_found', unknown);
    if (!isOff) throw new Problem('sign_in_used', 'this sign-in is already used by an agent');
    ctx.body = all.status(state);
  });
  router.get('/oauth/callback', async (ctx: RoutedContext) => {
    const parameters = new URLSearchParams(ctx.querystring);
    const outcome = await (await signIns()).callback(parameters);
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.type = 'text/plain; charset=utf-8';
    ctx.status = outcome === 'signed_in' ? 200 : 400;
    ctx.body = `${said[outcome]}\n`;
  });
}

function originOf({ state, host }: RoutedContext, publicOrigin: string | null): string {
  return state.isPublic === true && publicOrigin !== null ? publicOrigin : `http://${host}`;
}
