import { setTimeout as pause } from 'node:timers/promises';
import { ProtocolErrorCode, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/core';
import { doubledPause } from '../../../machines/back-off.ts';
import { parseJson } from '../../../machines/json.ts';
import { redactSecrets } from '../../governance/governance.ts';
import { egressCause } from '../../outbound/outbound.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EgressScope, Outbound } from '../../ports/egress.ts';
import { HttpRefusal, readRefusal } from './http-refusal.ts';
import { longestMessage } from './line-reader.ts';
import { messageGate, redactError } from './message-gate.ts';
import { readableBody } from './readable-message.ts';
import { ServerFault } from './server-fault.ts';
import { serverSecrets } from './server-secrets.ts';
import type { McpServerSettings } from './server-settings.ts';

/** Egress of a server connection. */
export interface ServerEgress extends Pick<Outbound, 'discovered'> {
  readonly fetch: typeof globalThis.fetch;
  scope(): EgressScope | null;
  within<T>(scope: EgressScope, run: () => T, limits: AnswerLimits): T;
}

/** The tokens for a server. */
export interface TransportAuth {
  /** Credentials that must not appear in any output. */
  readonly secrets: readonly string[];
  /** Returns the token of the next request. */
  token(): Promise<string>;
  /** Returns another token after a 401 with a challenge; `null` if there is none. */
  refused(token: string, challenge: string | null): Promise<string | null>;
}

interface AnswerLimits {
  headers: number;
  idle: number;
  total: number | null;
  bytes: number | null;
}

/** A call has its own, earlier deadline; a notification stream may be silent indefinitely. */
function answerLimits({ timeout = 0 }: McpServerSettings): AnswerLimits {
  const later = timeout + 30_000;
  return {
    headers: Math.max(90_000, later),
    idle: Math.max(300_000, later),
    total: null,
    bytes: longestMessage,
  };
}

/** Method of the first request to a server of unknown version. */
const discover = 'server/discover';

/** Scope of requests that belong to no task. */
const ownScope: EgressScope = { taskId: null, correlationId: null, tags: {} };

/** Maximum pause before a notification stream is reopened, in milliseconds. */
const longestPause = 300_000;

/**
 * Creates a streamable HTTP transport that uses the daemon's own egress, only to the configured origin, and attributes
 * requests to the calling task.
 */
export function httpTransport(
  server: McpServerSettings,
  egress: ServerEgress,
  clock: Pick<Clock, 'now'>,
  auth: TransportAuth | null = null,
): StreamableHTTPClientTransport & { readonly secrets: readonly string[] } {
  const { url, headers } = server;
  const own = serverSecrets(server);
  const secrets = () => [...own, ...(auth?.secrets ?? [])];
  const limits = answerLimits(server);
  const pass = messageGate(clock);
  const address = new URL(url ?? '');
  let opened = 0;
  const send: typeof globalThis.fetch = async (input, init) => {
    const asked = new URL(input instanceof Request ? input.url : input);
    if (asked.origin !== address.origin) {
      throw new ServerFault(`leads to ${asked.host}, which is not the host of its url`);
    }
    const isNews = (init?.method ?? 'GET') === 'GET';
    if (isNews) {
      if (opened > 0) await pause(doubledPause(opened + 2, longestPause), undefined, unheld(init));
      opened += 1;
    }
    const scope = { ...ownScope, ...egress.scope(), isOwn: true };
    const ask: typeof globalThis.fetch = (...asking) =>
      egress.within(scope, () => egress.fetch(...asking), limits);
    const response = await (auth === null ? ask(input, init) : authorised(auth, ask, input, init));
    if (isNews) return response;
    const { id, method } = requestIn(init?.body);
    if (response.status >= 400) {
      const session = new Headers(init?.headers).get('mcp-session-id');
      const redact = (text: string) => redactSecrets(text, secrets());
      const refusal = readRefusal(response, { id, session, now: clock.now(), redact });
      return method === discover ? refusal.catch(() => unknownMethod(id)) : refusal;
    }
    if (id !== null && response.status === 202) {
      if (method === discover) return unknownMethod(id);
      // The SDK would expect the answer later.
      throw new HttpRefusal(response, 'and no answer');
    }
    return watched(response, id, brokenOff);
  };
  const transport = new StreamableHTTPClientTransport(address, {
    fetch: send,
    requestInit: { headers },
  });
  // The SDK calls this before it processes a message, and drops the message if it throws.
  transport.onmessage = (message) => {
    pass(message);
    redactError(message, secrets());
  };
  /** If a response breaks off, the SDK leaves its request unanswered until the deadline. */
  const brokenOff = (id: unknown, error: unknown) => {
    const reason = (egressCause(error) ?? (error as Error)).message;
    const message = `the answer broke off (${reason})`;
    const told = JSONRPCMessageSchema.safeParse({
      jsonrpc: '2.0',
      id,
      error: { code: ProtocolErrorCode.InternalError, message },
    });
    if (told.success) transport.onmessage?.(told.data);
  };
  return Object.defineProperty(transport, 'secrets', {
    get: secrets,
  }) as StreamableHTTPClientTransport & { readonly secrets: readonly string[] };
}

/** Sends a request with the token of its server, and once more with another token if the server refuses the first. */
async function authorised(
  auth: TransportAuth,
  ask: typeof globalThis.fetch,
  input: Parameters<typeof globalThis.fetch>[0],
  init: RequestInit = {},
): Promise<Response> {
  const withToken = (token: string) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    return ask(input, { ...init, headers });
  };
  const token = await auth.token().catch(noToken);
  const response = await withToken(token);
  if (response.status !== 401) return response;
  const challenge = response.headers.get('www-authenticate');
  const next = await auth.refused(token, challenge).catch(noToken);
  if (next === null) return response;
  await response.body?.cancel();
  return withToken(next);
}

/** Fails the request of a call before its session is lost, so that the call is known not to have run. */
function noToken(cause: unknown): never {
  throw new Error('there is no token for the server', { cause });
}

/** Reconnection pauses must not keep the daemon running. */
function unheld(init: RequestInit | undefined) {
  const signal = init?.signal ?? undefined;
  return { ref: false, ...(signal === undefined ? {} : { signal }) };
}

/** A stream without any of these contains no answer, and none that can be resumed by event id. */
const isEnd = /"result"|"error"|^id:/m;

/** Passes a response through, and reports if it breaks off. */
function watched(
  response: Response,
  id: unknown,
  brokenOff: (id: unknown, error: unknown) => void,
): Response {
  const { body, status, statusText, headers } = response;
  if (body === null || !response.ok) return response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  let mayBeAnswered = !isStream || id === null;
  const see = (text: string) => {
    mayBeAnswered ||= isEnd.test(text);
  };
  const exact = body.pipeThrough(readableBody(isStream, see));
  const reader: ReadableStreamDefaultReader<Uint8Array> = exact.getReader();
  let isLeft = false;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (isLeft) return;
        if (!done) return controller.enqueue(value);
        if (!mayBeAnswered) brokenOff(id, new Error('it ended without a result'));
        controller.close();
      } catch (error) {
        if (isLeft) return;
        brokenOff(id, error);
        controller.error(error);
      }
    },
    cancel(reason) {
      isLeft = true;
      return reader.cancel(reason);
    },
  });
  return new Response(stream, { status, statusText, headers });
}

/** Returns the id and the method of a request; an id of `null` for a notification. */
function requestIn(body: unknown): { id: unknown; method: unknown } {
  const said = typeof body === 'string' ? parseJson(body) : null;
  const { id, method = null } = Object(said) as { id?: unknown; method?: unknown };
  return { id: method === null ? null : (id ?? null), method };
}

/**
 * Servers of before 2026-07-28 refuse the unknown request in many ways; all of them get the handshake of their version,
 * which they answer, or refuse for the true reason.
 */
function unknownMethod(id: unknown): Response {
  const error = { code: ProtocolErrorCode.MethodNotFound, message: 'unknown method' };
  return Response.json({ jsonrpc: '2.0', id, error });
}
