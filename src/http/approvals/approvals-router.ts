import Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import type { Devices } from '../../actors/ports/devices.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { Passkeys } from '../../actors/ports/passkeys.ts';
import type { WebAccess } from '../../actors/ports/web-access.ts';
import type { OpenSession } from '../../actors/ports/web-sessions.ts';
import { staleSignIn } from '../../machines/sign-in/recent-sign-in.ts';
import { CallerTasks, type CallerTasksPorts } from '../caller-tasks.ts';
import {
  type AuthenticatePorts,
  approvalsPath,
  recordVerdict,
} from '../middleware/authenticate.ts';
import { installableHeaders, type PageFiles, servePage } from '../middleware/page-files.ts';
import { readJson } from '../middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import { decisionList, decisions } from '../routes/decisions.ts';
import { type DeferralPorts, deferralsGet, deferralsList } from '../routes/deferrals.ts';
import {
  type DelegationPorts,
  delegationsEnd,
  delegationsGive,
  delegationsList,
} from '../routes/delegations.ts';
import { listGrants, revokeGrant } from '../routes/grants.ts';
import {
  confirmSession,
  findSession,
  isRepeatedRead,
  sessionOf,
  signedOut,
} from '../sign-in/find-session.ts';
import { limitSignIns } from '../sign-in/limit-sign-ins.ts';
import { type PageCookie, sessionCookies } from '../sign-in/session-cookies.ts';
import { addSignInPages, signOut } from '../sign-in/sign-in-pages.ts';
import {
  type DeviceJson,
  type DeviceListJson,
  presentPerson,
  readSubscription,
  type SessionJson,
} from '../wire/approvals-page.ts';
import { noDecision } from '../wire/decision.ts';
import { Problem } from '../wire/problem.ts';
import { timestamp } from '../wire/timestamp.ts';
import { passkeyRoutes, withPasskey } from './passkey-routes.ts';

/** The approvals page of an agent. */
export interface ApprovalsPage {
  access: WebAccess;
  passkeys: Passkeys;
  agentId: string;
  devices: Devices;
  files: PageFiles;
}

export type ApprovalsPorts = Omit<SessionPorts, 'access'> &
  DeferralPorts &
  DelegationPorts & { log: Log };

const api = `${approvalsPath}/api`;

/**
 * Creates the routes of the approvals page (docs/contract/approvals-page.md). Its cookie is valid for these routes
 * alone, and no `GET` decides.
 */
export function approvalsRouter(
  { access, passkeys, agentId, devices, files }: ApprovalsPage,
  others: ApprovalsPorts,
): Router<RequestState> {
  const ports = { ...others, access };
  const cookies = sessionCookies(access.origin);
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const limited = limitSignIns(ports);

  router.use(approvalsPath, (ctx, next) => {
    ctx.set(installableHeaders);
    return next();
  });
  router.get(approvalsPath, (ctx) => ctx.redirect(`${access.origin}${approvalsPath}/`));
  addSignInPages(router, {
    ...{ access, cookies, limited },
    signIn: `${approvalsPath}/sign-in`,
    callback: `${approvalsPath}/callback`,
    placeIn: ({ call }) => callIn(call),
    pageAt: (call) => `${approvalsPath}/${call === null ? '' : `#/calls/${call}`}`,
    record: (ctx, verdict) => recordVerdict(ports, ctx, verdict),
  });

  const active = requireSession(ports, cookies.session, { renews: true });
  const deciding = requireSession(ports, cookies.session, {
    renews: true,
    refused: (open) => devices.endSession(open),
  });
  const repeated = requireSession(ports, cookies.session, { renews: false });
  router.get(`${api}/session`, active, (ctx) => {
    ctx.body = {
      agent_id: agentId,
      ...presentPerson(sessionOf(ctx).session),
    } satisfies SessionJson;
  });
  router.get(`${api}/deferrals`, repeated, deferralsList);
  router.get(`${api}/deferrals/:id`, active, deferralsGet(ports));
  const read = readJson({ malformed: noDecision });
  router.post(
    `${api}/tasks/:id/decisions`,
    deciding,
    read,
    decisions(ports, withPasskey(passkeys)),
  );
  router.post(`${api}/deferrals/decisions`, deciding, readJson(), decisionList(ports));
  deviceRoutes(router, { api, active, devices });
  passkeyRoutes(router, { api, active, deciding, passkeys, clock: ports.clock });
  router.get(`${api}/grants`, repeated, listGrants);
  router.delete(`${api}/grants/:id`, active, revokeGrant);
  router.get(`${api}/delegations`, repeated, delegationsList(ports));
  router.post(`${api}/delegations`, deciding, recent(ports), readJson(), delegationsGive(ports));
  router.delete(`${api}/delegations/:id`, active, delegationsEnd(ports));
  const endSession = signOut(access, cookies.session);
  router.post(`${api}/sign-out`, active, readJson(), async (ctx) => {
    await devices.endSession(sessionOf(ctx));
    await endSession(ctx);
  });
  const show = servePage({ page: files, below: approvalsPath });
  router.get([`${approvalsPath}/`, `${approvalsPath}/:file`], show);
  router.get(`${approvalsPath}/assets/:file`, show);
  return router;
}

/** Accepts requests of a person who has signed in recently. */
function recent({ clock }: Pick<ApprovalsPorts, 'clock'>) {
  return async function recentGuard(ctx: RoutedContext, next: Next) {
    const error = staleSignIn(sessionOf(ctx).session, clock.now());
    if (error !== null) throw new Problem('recent_sign_in_required', error);
    await next();
  };
}

/** Returns the id of a call in a query; `null` for anything else. Only this text returns from the issuer. */
function callIn(text: unknown): string | null {
  return typeof text === 'string' && /^[\w-]{1,128}$/.test(text) ? text : null;
}

interface DevicePorts {
  /** Path of the API of the page. */
  api: string;
  active: Middleware<RequestState>;
  devices: Devices;
}

/** Adds the routes for notifications to those of the approvals page (docs/contract/approvals-page.md). */
function deviceRoutes(router: Router<RequestState>, { api, active, devices }: DevicePorts): void {
  const read = readJson({ longest: 16 * 1024 });
  router.get(`${api}/devices`, active, async (ctx) => {
    const [listed, public_key] = await Promise.all([
      devices.list(sessionOf(ctx)),
      devices.publicKey(),
    ]);
    const shown = listed.map(({ id, createdAt }) => ({ id, created_at: timestamp(createdAt) }));
    ctx.body = { public_key, devices: shown } satisfies DeviceListJson;
  });
  router.post(`${api}/devices`, active, read, async (ctx) => {
    const added = await devices.add(sessionOf(ctx), readSubscription(ctx.request.body));
    if (added.kind === 'refused') throw new Problem('invalid_body', added.problem);
    const { id, createdAt } = added.device;
    ctx.status = 201;
    ctx.body = { id, created_at: timestamp(createdAt) } satisfies DeviceJson;
  });
  router.post(`${api}/devices/:id/removal`, active, read, async (ctx) => {
    const isRemoved = await devices.remove(sessionOf(ctx), ctx.params['id'] ?? '');
    if (!isRemoved) throw new Problem('device_not_found', 'you have no such device');
    ctx.status = 204;
  });
}

type SessionPorts = CallerTasksPorts & AuthenticatePorts & { access: WebAccess };

/**
 * Accepts requests of the page with a session, and binds them to the person's tasks: those that the person requested,
 * and those that list the person as an approver. A change must come from the page itself. `renews` restarts the idle
 * time of the session, unless the page repeats the request on its own. With `refused` the issuer confirms the person
 * first, as before each decision; it is called with the session of a person whom the issuer refuses.
 */
function requireSession(
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
