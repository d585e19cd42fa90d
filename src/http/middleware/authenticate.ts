import type { Context, Middleware, Next } from 'koa';
import type { AuditEvent, Authenticator, Clock, Verification } from '../../actors/ports.ts';
import { runtimeProvider } from '../../machines/governance/approvers.ts';
import { isEmailShaped } from '../../machines/governance/email.ts';
import type { Caller } from '../../machines/task/task.ts';
import { isTagValue } from '../../machines/workflow.ts';
import type { RequestState } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';
import { type EnvelopePorts, requestEnvelope } from '../wire/request-envelope.ts';

/** What establishing who calls needs. */
export interface AuthenticatePorts extends EnvelopePorts {
  authenticator: Authenticator;
  clock: Pick<Clock, 'now'>;
  /** Writes an event to the audit log. */
  record: (event: AuditEvent) => Promise<void>;
}

/** Paths that anybody may read (contract section 8). */
const publicPaths: ReadonlySet<string> = new Set([
  '/healthz',
  '/readyz',
  '/.well-known/service-audit-keys',
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
]);

/** Longest part of a path that an event holds, in characters. */
const longestPath = 256;

/**
 * Establishes who is calling, or refuses with 401 (contract section 8). Either is told to the audit log.
 * The request does not wait for that: a log that cannot be written makes the task system refuse new
 * work with 503 by itself (contract section 10), and waiting would let strangers slow others down.
 */
export function authenticate(ports: AuthenticatePorts): Middleware<RequestState> {
  return async function authentication(ctx: Context, next: Next) {
    ctx.state.caller = null;
    if (publicPaths.has(ctx.path) || ctx.method === 'OPTIONS') return void (await next());
    const verdict = await ports.authenticator.verify({
      bearer: bearerOf(ctx.get('Authorization')),
      iapAssertion: ctx.get('X-Cloud-Iap-Jwt-Assertion') || null,
      orgId: orgOf(ctx.get('X-Service-Org-ID')),
    });
    record(ports, ctx, verdict);
    if (verdict.kind === 'rejected') {
      throw new Problem(
        401,
        { error: 'unauthorized', message: verdict.message },
        { 'WWW-Authenticate': 'Bearer' },
      );
    }
    ctx.state.caller =
      verdict.kind === 'verified'
        ? onBehalfOf(ctx.get('X-Service-On-Behalf-Of'), verdict.caller)
        : null;
    await next();
  };
}

function bearerOf(authorization: string): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}

/**
 * The daemon's own token speaks for people elsewhere, such as in a chat, and says for whom by an id, an email or both;
 * what others say of whom they mean counts for nothing.
 */
function onBehalfOf(header: string, caller: Caller): Caller {
  if (caller.provider !== runtimeProvider) return caller;
  const words = header.split(' ').filter(isTagValue);
  const email = words.find(isEmailShaped)?.toLowerCase();
  const userId = words.find((word) => !isEmailShaped(word));
  return {
    ...caller,
    ...(userId === undefined ? {} : { userId }),
    ...(email === undefined ? {} : { email }),
  };
}

/** An organisation is a short word; a header that is none counts as absent. */
function orgOf(header: string): string | null {
  return /^[\x21-\x7e]{1,256}$/.test(header) ? header : null;
}

function record(ports: AuthenticatePorts, ctx: Context, verdict: Verification): void {
  if (verdict.kind === 'anonymous') return;
  const caller = verdict.kind === 'verified' ? verdict.caller : null;
  const event: AuditEvent = {
    ...requestEnvelope(ports, ctx.state as RequestState, caller),
    ...(verdict.kind === 'verified' ? verification(ctx, verdict) : failure(ctx, verdict)),
  };
  // The store keeps in mind that it could not write; see above.
  ports.record(event).catch(() => undefined);
}

type Told = Pick<AuditEvent, 'event' | 'fields'>;

function verification(
  ctx: Context,
  { caller, tokenKind }: Extract<Verification, { kind: 'verified' }>,
): Told {
  return {
    event: 'auth_verify',
    fields: {
      provider: caller.provider,
      user_id: caller.userId,
      ...(caller.orgId === undefined ? {} : { org_id: caller.orgId }),
      token_kind: tokenKind,
      ...requestOf(ctx),
    },
  };
}

function failure(
  ctx: Context,
  { reason, tokenKind }: Extract<Verification, { kind: 'rejected' }>,
): Told {
  return { event: 'auth_fail', fields: { reason, token_kind: tokenKind, ...requestOf(ctx) } };
}

function requestOf(ctx: Context): { method: string; path: string; remote_addr: string } {
  const { clientAddress } = ctx.state as RequestState;
  return {
    method: ctx.method,
    path: ctx.path.slice(0, longestPath),
    remote_addr: clientAddress,
  };
}
