import type { Context, Middleware, Next } from 'koa';
import type { AuditEvent } from '../../actors/ports/audit-event.ts';
import type {
  Authenticator,
  AuthFailure,
  Verification,
} from '../../actors/ports/authentication.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Caller } from '../../machines/domain/task.ts';
import { chatProvider } from '../../machines/governance/approvers.ts';
import { isEmailShaped, normaliseEmail } from '../../machines/governance/email.ts';
import { keptStart } from '../../machines/text.ts';
import { isTagValue, workflowHeaders } from '../../machines/workflow.ts';
import type { AuthLog } from '../auth-log.ts';
import { addressGroup } from '../client-address.ts';
import { mcpPath } from '../mcp/mcp-path.ts';
import type { RequestState } from '../request-state.ts';
import { personHeader } from '../wire/named-person.ts';
import { Problem } from '../wire/problem.ts';
import {
  metadataPath,
  type ProtectedResource,
  resourceChallenge,
} from '../wire/protected-resource.ts';
import { type EnvelopePorts, requestEnvelope } from '../wire/request-envelope.ts';
import { type DashboardSignIn, type PersonActing, personNamed } from './act-for-person.ts';
import { isRead } from './is-read.ts';
import { createPageCheck, type PagePorts } from './page-fault.ts';

export interface AuthenticatePorts extends EnvelopePorts, PagePorts {
  authenticator: Authenticator;
  clock: Pick<Clock, 'now'>;
  /** Receives authentications and refusals for the audit log. */
  authLog: Pick<AuthLog, 'letIn' | 'letInToRead' | 'refused'>;
  /** Receives the reason of each refusal, for the metrics. */
  onRejected?: (reason: AuthFailure) => void;
  /** The sign-in of the dashboard whose people the agent accepts; absent for none. */
  dashboard?: DashboardSignIn | null;
  /** The MCP endpoint as clients request tokens for it; absent or `null` if no issuer makes them. */
  resource?: ProtectedResource | null;
  /** True if `GET /metrics` requires a token even while authentication is off. */
  hasMetricsToken?: boolean;
}

/** Public paths, readable without authentication (docs/contract/authentication.md). */
const publicPaths: ReadonlySet<string> = new Set([
  '/healthz',
  '/readyz',
  '/.well-known/service-audit-keys',
  '/.well-known/audit-keys.json',
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
  '/openapi.json',
  metadataPath,
  `${metadataPath}${mcpPath}`,
]);

/** Path of the Guardian of the Agent Control Standard. */
const acsPath = '/acs';

/** Path of the metrics. */
const metricsPath = '/metrics';

/** Path of the approvals page. */
export const approvalsPath = '/approvals';

/** Maximum number of characters of a path in an event. */
const longestPath = 256;

/**
 * Authenticates the caller or rejects the request with 401 (docs/contract/authentication.md), and records either result
 * in the audit log. If authentication is not required, rejects requests of foreign web pages with 403. The request does
 * not wait for the log, because waiting would let unauthenticated clients slow others down. If the log fails, the task
 * system itself rejects new tasks with 503 (docs/contract/audit.md).
 */
export function authenticate(ports: AuthenticatePorts): Middleware<RequestState> {
  const pageFault = createPageCheck(ports);
  return async function authentication(ctx: Context, next: Next) {
    ctx.state.caller = null;
    if (isPublic(ctx)) return void (await next());
    const found = await ports.authenticator.verify({
      bearer: bearerOf(ctx.get('Authorization')),
      iapAssertion: ctx.get('X-Cloud-Iap-Jwt-Assertion') || null,
      orgId: orgOf(ctx.get('X-Service-Org-ID')),
    });
    const verdict = atPlace(found, ctx, ports.hasMetricsToken ?? false);
    const named = ctx.get(personHeader);
    if (named !== '' && verdict.kind !== 'rejected') {
      const caller = verdict.kind === 'verified' ? verdict.caller : null;
      actFor(ports, ctx, personNamed(named, caller, ports.dashboard ?? null));
      return void (await next());
    }
    recordVerdict(ports, ctx, verdict);
    if (verdict.kind === 'rejected') {
      throw new Problem(
        'unauthorized',
        'unauthorized',
        { message: verdict.message },
        { 'WWW-Authenticate': challengeOf(ports, ctx, verdict) },
      );
    }
    const fault = verdict.kind === 'anonymous' ? pageFault(ctx) : null;
    if (fault !== null) throw fault;
    ctx.state.caller =
      verdict.kind === 'verified'
        ? onBehalfOf(ctx.get('X-Service-On-Behalf-Of'), verdict.caller)
        : null;
    await next();
  };
}

/**
 * Rejects a token that opens only another place. The token that a person gave to an MCP client calls tools; it neither
 * decides nor reads anything elsewhere. The token of the monitoring system reads the metrics. Once there is one, the
 * metrics are not public while authentication is off.
 */
function atPlace(
  verdict: Verification,
  { path, method }: Context,
  isMetricsGuarded: boolean,
): Verification {
  const isMetrics = path === metricsPath && isRead(method);
  // The route also matches the path with a slash at its end.
  const isOfMetrics = path === metricsPath || path === `${metricsPath}/`;
  if (verdict.kind === 'anonymous' && isOfMetrics && isMetricsGuarded) {
    const message = 'send a bearer token in the Authorization header';
    return { kind: 'rejected', reason: 'missing_token', message, tokenKind: 'none' };
  }
  if (verdict.kind !== 'verified' || verdict.opens === undefined) return verdict;
  if (verdict.opens === 'mcp' ? path === mcpPath : isMetrics) return verdict;
  const message =
    verdict.opens === 'mcp'
      ? `the token is for ${mcpPath} alone; ask for one for this agent`
      : `the token is for GET ${metricsPath} alone; sign in to the agent`;
  return { kind: 'rejected', reason: 'invalid', message, tokenKind: verdict.tokenKind };
}

/** Clients of the MCP endpoint learn where to get a token. */
function challengeOf(
  { resource = null }: AuthenticatePorts,
  { path }: Context,
  { reason }: Extract<Verification, { kind: 'rejected' }>,
): string {
  if (resource === null || path !== mcpPath) return 'Bearer';
  return resourceChallenge(resource, reason === 'invalid' || reason === 'rejected');
}

/** Makes a request one of the person for whom the dashboard sends it. */
function actFor(
  ports: AuthenticatePorts,
  ctx: Context,
  { caller, taskAccess }: PersonActing,
): void {
  recordVerdict(ports, ctx, { kind: 'verified', caller, tokenKind: 'session' });
  Object.assign(ctx.state, { caller, taskAccess, signedInAt: 'dashboard' });
}

/** `/` serves the card on GET and JSON-RPC on POST. The requests of `/acs` are signed, and its route verifies them. */
function isPublic({ path, method }: Context): boolean {
  if (path === acsPath && method === 'POST') return true;
  // The routes of the approvals page authenticate by its cookie.
  if (path === approvalsPath || path.startsWith(`${approvalsPath}/`)) return true;
  return publicPaths.has(path) || method === 'OPTIONS' || (path === '/' && isRead(method));
}

function bearerOf(authorization: string): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}

/**
 * Returns the person for whom the conversation token acts, by ID, email or both. The header is ignored for any other
 * caller.
 */
function onBehalfOf(header: string, caller: Caller): Caller {
  if (caller.provider !== chatProvider) return caller;
  const words = header.split(' ').filter(isTagValue);
  const email = words.map(normaliseEmail).find((address) => address !== null);
  const userId = words.find((word) => !isEmailShaped(word));
  return {
    ...caller,
    ...(userId === undefined ? {} : { userId }),
    ...(email === undefined ? {} : { email }),
  };
}

/** An organisation is a short word; an invalid header counts as absent. */
function orgOf(header: string): string | null {
  return /^[\x21-\x7e]{1,256}$/.test(header) ? header : null;
}

/** Records an authentication or a refusal in the audit log. */
export function recordVerdict(ports: AuthenticatePorts, ctx: Context, verdict: Verification): void {
  if (verdict.kind === 'verified') recordVerified(ports, ctx, verdict);
  if (verdict.kind === 'rejected') recordRejected(ports, ctx, verdict);
}

function recordVerified(
  ports: AuthenticatePorts,
  ctx: Context,
  { caller, tokenKind }: Extract<Verification, { kind: 'verified' }>,
): void {
  const { provider, userId, orgId, workspaceId } = caller;
  const event = (): AuditEvent => ({
    ...requestEnvelope(ports, ctx.state as RequestState, caller),
    event: 'auth_verify',
    fields: {
      provider,
      user_id: userId,
      ...(orgId === undefined ? {} : { org_id: orgId }),
      token_kind: tokenKind,
      ...requestOf(ctx),
    },
  });
  if (!isRead(ctx.method) || workflowOf(ctx).length > 0) return ports.authLog.letIn(event());
  const identity = [provider, userId, orgId, workspaceId, tokenKind];
  ports.authLog.letInToRead(JSON.stringify(identity), event);
}

/** Refusals with the same address, reason and workflow are combined (docs/contract/authentication.md). */
function recordRejected(
  ports: AuthenticatePorts,
  ctx: Context,
  { reason, tokenKind }: Extract<Verification, { kind: 'rejected' }>,
): void {
  const address = addressGroup((ctx.state as RequestState).clientAddress);
  ports.onRejected?.(reason);
  ports.authLog.refused(JSON.stringify([address, reason, ...workflowOf(ctx)]), {
    ...requestEnvelope(ports, ctx.state as RequestState, null),
    event: 'auth_fail',
    fields: { reason, token_kind: tokenKind, ...requestOf(ctx) },
  });
}

/** Returns a request's workflow tags; empty if it belongs to no workflow. */
function workflowOf(ctx: Context): string[] {
  const { tags } = ctx.state as RequestState;
  return workflowHeaders.flatMap(([, tag]) => {
    const value = tags[tag];
    return value === undefined ? [] : [`${tag}=${value}`];
  });
}

function requestOf(ctx: Context): { method: string; path: string; remote_addr: string } {
  const { clientAddress } = ctx.state as RequestState;
  return {
    method: ctx.method,
    path: keptStart(ctx.path, longestPath),
    remote_addr: clientAddress,
  };
}
