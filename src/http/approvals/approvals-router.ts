import Router from '@koa/router';
import type { Next } from 'koa';
import type { Log } from '../../actors/ports/log.ts';
import type { WebAccess } from '../../actors/ports/web-access.ts';
import type { WebSession } from '../../actors/ports/web-sessions.ts';
import { type DecisionAttempt, maySeeWhole } from '../../machines/governance/approvers.ts';
import { staleSignIn } from '../../machines/sign-in/recent-sign-in.ts';
import { approvalsPath, recordVerdict } from '../middleware/authenticate.ts';
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
import { grantsList, grantsRevoke } from '../routes/grants.ts';
import type { SessionJson, SignedOutJson } from '../wire/approvals-page.ts';
import { noDecision, refuseUnpinned } from '../wire/decision.ts';
import { html } from '../wire/html.ts';
import { Problem } from '../wire/problem.ts';
import { timestamp } from '../wire/timestamp.ts';
import { approvalsCookies } from './approvals-cookies.ts';
import { limitSignIns } from './limit-sign-ins.ts';
import { passkeyRoutes, withPasskey } from './passkey-routes.ts';
import { requireSession, type SessionPorts, sessionOf } from './require-session.ts';

/** The approvals page of an agent. */
export interface ApprovalsPage {
  access: WebAccess;
  agentId: string;
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
  { access, agentId, files }: ApprovalsPage,
  others: ApprovalsPorts,
): Router<RequestState> {
  const ports = { ...others, access };
  const cookies = approvalsCookies(access.origin);
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const limited = limitSignIns(ports);

  router.use(approvalsPath, (ctx, next) => {
    ctx.set(installableHeaders);
    return next();
  });
  router.get(approvalsPath, (ctx) => ctx.redirect(`${access.origin}${approvalsPath}/`));
  router.get(`${approvalsPath}/sign-in`, limited, async (ctx) => {
    const started = await access.start(callIn(ctx.query['call']));
    if (started.kind === 'refused') return showProblem(ctx, 502, started.problem);
    cookies.signIn.write(ctx, started.cookie);
    ctx.redirect(started.url);
  });
  router.get(`${approvalsPath}/callback`, limited, async (ctx) => {
    const sealed = cookies.signIn.read(ctx);
    cookies.signIn.clear(ctx);
    const ended = await access.finish(ctx.querystring, sealed);
    if (ended.kind === 'refused') {
      const { problem: message } = ended;
      const reason = { reason: 'invalid', tokenKind: 'session', message } as const;
      recordVerdict(ports, ctx, { kind: 'rejected', ...reason });
      return showProblem(ctx, 400, message);
    }
    const { session, cookie, call } = ended;
    recordVerdict(ports, ctx, { kind: 'verified', caller: session.caller, tokenKind: 'session' });
    cookies.session.write(ctx, cookie);
    const place = call === null ? '' : `#/calls/${call}`;
    ctx.redirect(`${access.origin}${approvalsPath}/${place}`);
  });

  const active = requireSession(ports, cookies.session, { renews: true });
  const repeated = requireSession(ports, cookies.session, { renews: false });
  router.get(`${api}/session`, active, (ctx) => {
    ctx.body = presentSession(agentId, sessionOf(ctx).session);
  });
  router.get(`${api}/deferrals`, repeated, deferralsList());
  const showCall = deferralsGet(ports);
  router.get(`${api}/deferrals/:id`, active, async (ctx) => {
    await showCall(ctx);
    ctx.body = { ...(ctx.body as object), may_decide: await mayDecide(ctx) };
  });
  const read = readJson({ malformed: noDecision });
  const confirmed = withPasskey(access.passkeys);
  const own = async (attempt: DecisionAttempt, ctx: RoutedContext) =>
    confirmed(asSignedIn(attempt), ctx);
  router.post(`${api}/tasks/:id/decisions`, active, read, decisions(ports, own));
  router.post(`${api}/deferrals/decisions`, active, readJson(), decisionList(ports, asSignedIn));
  passkeyRoutes(router, { api, active, asSignedIn, ...ports });
  router.get(`${api}/grants`, repeated, grantsList());
  router.delete(`${api}/grants/:id`, active, grantsRevoke());
  router.get(`${api}/delegations`, repeated, delegationsList(ports));
  router.post(`${api}/delegations`, active, recent(ports), readJson(), delegationsGive(ports));
  router.delete(`${api}/delegations/:id`, active, delegationsEnd(ports));
  router.post(`${api}/sign-out`, active, readJson(), async (ctx) => {
    const to = await access.end(sessionOf(ctx));
    ctx.remove('Set-Cookie');
    cookies.session.clear(ctx);
    ctx.body = { to } satisfies SignedOutJson;
  });
  const serve = servePage({ page: files });
  const show = async (ctx: RoutedContext, next: Next) => {
    ctx.path = ctx.path.slice(approvalsPath.length);
    await serve(ctx, next);
  };
  router.get([`${approvalsPath}/`, `${approvalsPath}/:file`], show);
  router.get(`${approvalsPath}/assets/:file`, show);
  return router;
}

/**
 * Makes a decision one of the person who has signed in: a name or an email in the body counts for nothing, and the
 * decision must name the call that the person saw. Throws a Problem.
 */
function asSignedIn(attempt: DecisionAttempt): DecisionAttempt {
  const email = attempt.caller?.email;
  if (email === undefined) {
    const error = 'your account has no verified email, so you cannot decide; ask the operator';
    throw new Problem(403, { error });
  }
  refuseUnpinned(attempt);
  return { ...attempt, approver: null, email, isSignedIn: true };
}

/** Accepts requests of a person who has signed in recently. */
function recent({ clock }: Pick<ApprovalsPorts, 'clock'>) {
  return async function recentGuard(ctx: RoutedContext, next: Next) {
    const error = staleSignIn(sessionOf(ctx).session, clock.now());
    if (error !== null) throw new Problem(403, { error });
    await next();
  };
}

/** Returns whether the person is listed to decide on a call, with a verified email. */
async function mayDecide({ params, state: { caller, tasks } }: RoutedContext): Promise<boolean> {
  const task = await tasks.findByDeferral(params['id'] ?? '');
  const held = task?.deferral ?? null;
  if (task === undefined || held === null) return false;
  return maySeeWhole({ ...held, bindApprover: true }, caller, task.requester, tasks.who);
}

/** Returns the id of a call in a query; `null` for anything else. Only this text returns from the issuer. */
function callIn(text: unknown): string | null {
  return typeof text === 'string' && /^[\w-]{1,128}$/.test(text) ? text : null;
}

function presentSession(
  agent_id: string,
  { caller, name, csrf, expiresAt }: WebSession,
): SessionJson {
  const expires_at = timestamp(expiresAt);
  return { agent_id, name, email: caller.email ?? null, csrf, expires_at };
}

/** A page without scripts, since a sign-in fails before the page is there. */
function showProblem(ctx: RoutedContext, status: number, problem: string): void {
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
<p><a href="./">Back to the approvals</a></p>
</main>
</body>
</html>
`.text;
}
