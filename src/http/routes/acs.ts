import type { AcsSessions } from '../../actors/ports/acs-sessions.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { HoldTimes } from '../../machines/domain/hold.ts';
import { isWellFormed, type JsonObject } from '../../machines/json.ts';
import { type AcsOutcome, type AcsStep, readCall, readMcp, readResult } from '../acs/acs-call.ts';
import { handshakeEvent, refusalEvent } from '../acs/acs-events.ts';
import { isNegotiated, type Routed, routeOf } from '../acs/acs-methods.ts';
import { type SessionKey, signed } from '../acs/acs-signature.ts';
import { negotiate } from '../acs/negotiate.ts';
import { recordStep } from '../acs/record-step.ts';
import { ruleOnCall } from '../acs/rule-on-call.ts';
import {
  type AcsSecrets,
  checkSession,
  checkTerms,
  keyOf,
  useOnce,
  verified,
} from '../acs/verify-request.ts';
import type { AuthLog } from '../auth-log.ts';
import { addressGroup } from '../client-address.ts';
import { type AdmitPorts, admit } from '../middleware/admit.ts';
import { problemOf } from '../middleware/handle-errors.ts';
import { InexactBody, readJson } from '../middleware/read-json.ts';
import { failCall } from '../middleware/trace-request.ts';
import { holding, json } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import {
  type AcsDecision,
  AcsError,
  type AcsRequest,
  acsRequest,
  acsAnswer as acsResponse,
  acsVersion,
  denial,
  presentAcsError,
  readAcsRequest,
} from '../wire/acs.ts';
import { heldInvocation } from '../wire/admission.ts';
import { fieldOf } from '../wire/field-of.ts';
import type { RpcId } from '../wire/json-rpc.ts';
import { Problem } from '../wire/problem.ts';
import type { Routes } from './route.ts';

/** Maximum size of a request, in bytes. */
const longestAcsBody = 1_048_576;

/** Settings of the Guardian; times in milliseconds. */
export interface AcsSettings {
  secrets: AcsSecrets;
  timeout: number;
  skew: number;
  sessions: AcsSessions;
}

export interface AcsPorts extends AdmitPorts, AcsSettings, HoldTimes {
  clock: Clock;
  log: Log;
  authLog: Pick<AuthLog, 'refused'>;
}

const exampleStep = {
  jsonrpc: '2.0',
  id: 1,
  method: 'steps/toolCallRequest',
  params: {
    acs_version: '0.1.0',
    request_id: '0d3f2c1a-5b6e-4f70-8a9b-1c2d3e4f5a6b',
    timestamp: '2026-11-26T10:00:00Z',
    metadata: { agent_id: 'coder', session_id: '7c9e6679-7425-40de-944b-e07fc1f90ae7' },
    payload: { tool: { name: 'Bash' }, arguments: { command: { value: 'rm -rf build' } } },
    signature: { algorithm: 'HMAC-SHA256', value: 'kQ…=', key_id: 'default' },
  },
};

/** The route of a Guardian of the Agent Control Standard (docs/contract/acs.md). */
export const acsRoutes = (ports: AcsPorts): Routes => ({
  'POST /acs': {
    id: 'sendAcsRequest',
    tag: 'holds',
    says: 'Receives one request of the Agent Control Standard 0.1.0; its signature is the authentication. A call that a rule holds waits for a person within the timeout of the handshake.',
    body: { schema: acsRequest, types: [json], example: exampleStep },
    answers: {
      200: holding('The signed decision, or an error.', acsResponse),
      413: holding('The request is too long.', acsResponse),
    },
    form: 'rpc',
    isPublic: true,
    before: [acsErrors(ports), readJson({ longest: longestAcsBody })],
    answer: acsAnswer(ports),
  },
});

/** Maximum time by which an answer precedes the timeout of the client, in milliseconds. */
const longestMargin = 5_000;

/** Answers every refusal of `POST /acs` in the error form of the standard. */
function acsErrors(ports: Pick<AcsPorts, 'log' | 'authLog' | 'clock' | 'entity'>) {
  return async function errorForm(ctx: RoutedContext, next: () => Promise<unknown>) {
    try {
      await next();
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal.code === 'internalError') {
        ports.log.error({ error, path: ctx.path }, 'http: request failed');
      }
      refuse(ports, ctx, refusal, null);
      if (!(error instanceof Problem) || error.status === 400) return;
      ctx.set(error.headers);
      ctx.status = error.status;
    }
  };
}

function acsAnswer(ports: AcsPorts) {
  const { secrets } = ports;
  return async function answer(ctx: RoutedContext) {
    const body = ctx.request.body as JsonObject;
    const request = readAcsRequest(body);
    if (!isWellFormed(body)) {
      const message = 'the request has half of a Unicode character; send whole characters';
      throw new AcsError('invalidRequest', message);
    }
    if (request.method === 'system/ping') {
      const key = keyOf(secrets, request, body);
      const pong = { jsonrpc: '2.0', id: request.id, result: pongOf(request, ports.clock.now()) };
      ctx.body = key === null ? pong : signed(key, pong);
      return;
    }
    const key = verified(secrets, request, body);
    ctx.state.actAs({ provider: 'acs', userId: key.keyId });
    try {
      const result = await resultOf(ctx, { request, body, key }, ports);
      if (result === null) ctx.respond = false;
      else ctx.body = signed(key, { jsonrpc: '2.0', id: request.id, result });
    } catch (error) {
      if (!(error instanceof AcsError)) throw error;
      refuse(ports, ctx, error, key);
    }
  };
}

/** A request with a valid signature. */
interface Signed {
  request: AcsRequest;
  /** The request as it arrived. */
  body: JsonObject;
  key: SessionKey;
}

/** Returns the result of a signed request; `null` if the client left. Throws AcsError. */
async function resultOf(
  ctx: RoutedContext,
  { request, body, key: { keyId } }: Signed,
  ports: AcsPorts,
): Promise<JsonObject | null> {
  const { method, params } = request;
  const { sessions, clock, skew } = ports;
  checkTerms(request, { skew, now: clock.now() });
  const session = (await sessions.find(params.metadata.session_id))?.session;
  if (session !== undefined) checkSession(session, request, keyId);
  await useOnce(sessions, request);
  if (method === 'handshake/hello') {
    const hello = await negotiate(ports, request, {
      keyId,
      isSecure: ctx.secure,
    });
    await ports.record(handshakeEvent(ports, ctx.state, request, hello));
    return hello;
  }
  const routed = routeOf(method);
  if (routed === null) throw new AcsError('methodNotFound', `unknown method: ${method}`);
  if (session === undefined) {
    const message = 'the session has no handshake; send handshake/hello first';
    throw new AcsError('notNegotiated', message, { method });
  }
  if (routed.kind === 'unsupported' || !isNegotiated(method, session.methods)) {
    const message = `the handshake of the session did not negotiate ${method}`;
    throw new AcsError('notNegotiated', message, { method });
  }
  const step = stepOf(routed, params.payload);
  const { decision, chainHash } = await decide(ctx, { request, body }, step, ports);
  if (decision === null) return null;
  return {
    ...{ type: 'final', acs_version: acsVersion, request_id: params.request_id },
    ...decision,
    ...(chainHash === null ? {} : { chain_hash: chainHash }),
  };
}

function stepOf(routed: Exclude<Routed, { kind: 'unsupported' }>, payload: JsonObject): AcsStep {
  if (routed.kind === 'ruled') return { call: readCall(routed.method, payload) };
  if (routed.kind === 'mcp') return readMcp(routed.method, payload);
  return routed.method === 'steps/toolCallResult' ? readResult(payload) : {};
}

/**
 * Records a step and decides on it. A step whose decision fails is denied, since a client may run a step whose answer
 * is an error.
 */
async function decide(
  ctx: RoutedContext,
  { request, body }: Omit<Signed, 'key'>,
  { call, outcome }: AcsStep,
  ports: AcsPorts,
): Promise<{ decision: AcsDecision | null; chainHash: string | null }> {
  let chainHash: string | null = null;
  try {
    const recorded = await recordStep(ports, ctx, request, body);
    if (typeof recorded !== 'string') return { decision: recorded, chainHash };
    chainHash = recorded;
    if (outcome !== undefined) await reportOutcome(ctx, request, outcome, ports);
    if (call === undefined) return { decision: { decision: 'allow' }, chainHash };
    const { timeout } = ports;
    const within = timeout - Math.min(longestMargin, timeout / 10);
    let decision: AcsDecision | null = null;
    await admit(ports, heldInvocation)(ctx, async () => {
      decision = await ruleOnCall(ctx, request, call, { ...ports, within });
    });
    return { decision, chainHash };
  } catch (error) {
    const problem = problemOf(error);
    if (problem.status === 500) ports.log.error({ error, path: ctx.path }, 'http: request failed');
    const why = `the gate refused the call: ${problem.message}`;
    return { decision: denial(why, 'refused'), chainHash };
  }
}

/** Records the end of a call. The end of an unknown call, or of one that may not run, is ignored. */
async function reportOutcome(
  ctx: RoutedContext,
  { params }: AcsRequest,
  { id: call, ...outcome }: AcsOutcome,
  { sessions }: AcsPorts,
): Promise<void> {
  const key = await sessions.linked(params.metadata.session_id, call.toLowerCase());
  const id = key === undefined ? undefined : await ctx.state.tasks.findHold(key);
  if (id !== undefined) await ctx.state.tasks.closeHold(id, outcome);
}

function pongOf({ params: { request_id, payload } }: AcsRequest, now: number): JsonObject {
  const { echo } = payload;
  return {
    ...{ type: 'final', acs_version: acsVersion, request_id, decision: 'allow' },
    payload: {
      status: 'ok',
      ...(typeof echo === 'string' ? { echo } : {}),
      server_timestamp: new Date(now).toISOString(),
    },
  };
}

/** Answers with an error and records it. Errors with the same address and code are combined in the log. */
function refuse(
  ports: Pick<AcsPorts, 'authLog' | 'clock' | 'entity'>,
  ctx: RoutedContext,
  refusal: AcsError,
  key: SessionKey | null,
): void {
  const { body } = ctx.request;
  const answer = presentAcsError(refusal, namedId(body));
  failCall(ctx, refusal.code === 'methodNotFound');
  ctx.status = 200;
  ctx.body = key === null ? answer : signed(key, answer);
  const session = fieldOf(fieldOf(fieldOf(body, 'params'), 'metadata'), 'session_id');
  const named = key !== null && typeof session === 'string' ? session : null;
  const address = addressGroup(ctx.state.clientAddress);
  const kind = JSON.stringify([address, 'acs', refusal.code, named]);
  ports.authLog.refused(kind, refusalEvent(ports, ctx.state, refusal, { key, session: named }));
}

function refusalOf(error: unknown): AcsError {
  if (error instanceof AcsError) return error;
  const { status, message } = problemOf(error);
  if (error instanceof InexactBody) return new AcsError('invalidRequest', message);
  if (status === 400) return new AcsError('parseError', message);
  return new AcsError(status >= 500 ? 'internalError' : 'invalidRequest', message);
}

/** Maximum length of an id in an error, in characters. */
const longestId = 256;

function namedId(body: unknown): RpcId {
  const id = fieldOf(body, 'id');
  if (typeof id === 'string') return id.length > longestId ? null : id;
  return typeof id === 'number' ? id : null;
}
