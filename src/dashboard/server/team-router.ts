import Router from '@koa/router';
import type { Next } from 'koa';
import { approvalsPath } from '../../http/middleware/authenticate.ts';
import { isRead } from '../../http/middleware/is-read.ts';
import { installableHeaders, type PageFiles, servePage } from '../../http/middleware/page-files.ts';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import {
  confirmSession,
  findSession,
  isRepeatedRead,
  sessionOf,
} from '../../http/sign-in/find-session.ts';
import { limitSignIns } from '../../http/sign-in/limit-sign-ins.ts';
import type { sessionCookies } from '../../http/sign-in/session-cookies.ts';
import { addSignInPages, signOut } from '../../http/sign-in/sign-in-pages.ts';
import { Problem } from '../../http/wire/problem.ts';
import type { DashboardPorts } from '../routes/dashboard-ports.ts';
import { addTeamRoutes } from '../routes/team-routes.ts';
import type { SessionStreams } from './session-streams.ts';
import { callbackPath, signInPath, type TeamAccess } from './team-access.ts';

export interface TeamRouterPorts {
  team: TeamAccess;
  cookies: ReturnType<typeof sessionCookies>;
  streams: SessionStreams;
  /** The built approvals page; `null` if it does not exist. */
  approvalsPage: PageFiles | null;
}

const api = `${approvalsPath}/api`;

/** Fragments of the dashboard's own addresses. */
const fragment = /^#\/[\w/.~%?=&,:@+-]{0,500}$/;

/** Creates the routes of people at the public address: sign-in, sign-out and the approvals page of everyone. */
export function teamRouter(
  { team, cookies, streams, approvalsPage }: TeamRouterPorts,
  ports: DashboardPorts,
): Router<RequestState> {
  const { access, isOperator } = team;
  const { log } = ports;
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  router.use(async (ctx, next) => {
    // At its own address the dashboard has no people.
    if (ctx.state.isPublic !== true) throw new Problem('not_found', 'not found');
    await next();
  });
  addSignInPages(router, {
    ...{
      access,
      cookies,
      limited: limitSignIns(ports),
      signIn: signInPath,
      callback: callbackPath,
    },
    placeIn: ({ to }) => (typeof to === 'string' && fragment.test(to) ? to : null),
    pageAt: (place) => placeOf(place),
    record: (_, verdict) => {
      if (verdict.kind === 'verified') {
        const { email, userId } = verdict.caller;
        log.info({ person: email ?? userId }, 'dashboard: a person has signed in');
      }
    },
  });
  router.get(approvalsPath, (ctx) => ctx.redirect(`${access.origin}${approvalsPath}/`));
  router.get(`${approvalsPath}/sign-in`, (ctx) => {
    const { call } = ctx.query;
    const to = typeof call === 'string' ? `#/calls/${call}` : '#/calls';
    ctx.redirect(`${access.origin}${signInPath}?${new URLSearchParams({ to }).toString()}`);
  });
  router.use(api, async (ctx, next) => {
    const found = await findSession(ctx, access, cookies.session);
    const decides = ctx.path.endsWith('/decisions');
    const open = decides ? await confirmSession(ctx, access, cookies.session, found) : found;
    ctx.state.webSession = open;
    const isList = isRead(ctx.method) && ctx.path === `${api}/deferrals`;
    if (!isList && !isRepeatedRead(ctx)) {
      cookies.session.write(ctx, await access.renew(open));
      streams.renew(open.id);
    }
    // People act on this page with their own rights, also those who are operators.
    await next();
  });
  addTeamRoutes(router, api, { ...ports, isOperator });
  router.post(`${api}/sign-out`, readJson(), async (ctx: RoutedContext) => {
    const { id } = sessionOf(ctx);
    await signOut(access, cookies.session)(ctx);
    streams.end(id);
  });
  const serve = servePage({ page: approvalsPage, below: approvalsPath });
  const show = async (ctx: RoutedContext, next: Next) => {
    ctx.set(installableHeaders);
    await serve(ctx, next);
  };
  router.get([`${approvalsPath}/`, `${approvalsPath}/:file`], show);
  router.get(`${approvalsPath}/assets/:file`, show);
  return router;
}

/** Calls have a place on the approvals page, all others on the dashboard. */
function placeOf(place: string | null): string {
  const isCall = place?.startsWith('#/calls') === true;
  return `${isCall ? `${approvalsPath}/` : '/'}${place ?? ''}`;
}
