import { setTimeout as pause } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { doubledPause } from '../../../machines/back-off.ts';
import { redactSecrets } from '../../governance/governance.ts';
import type { Clock, EgressScope } from '../../ports.ts';
import { HttpRefusal, readRefusal } from './http-refusal.ts';
import { longestMessage } from './line-reader.ts';
import { messageGate, redactError } from './message-gate.ts';
import { readableBody } from './readable-message.ts';
import { ServerFault } from './server-fault.ts';
import { serverSecrets } from './server-secrets.ts';
import type { McpServerSettings } from './server-settings.ts';

/** The egress of a connection to a server. */
export interface ServerEgress {
  readonly fetch: typeof globalThis.fetch;
  scope(): EgressScope | null;
  within<T>(scope: EgressScope, run: () => T, limits: AnswerLimits): T;
}

interface AnswerLimits {
  headers: number;
  idle: number;
  total: number | null;
  bytes: number | null;
}

/** A call has its own deadline, which comes first; a stream for news may be silent for as long as any. */
function answerLimits({ timeout = 0 }: McpServerSettings): AnswerLimits {
  const later = timeout + 30_000;
  return {
    headers: Math.max(90_000, later),
    idle: Math.max(300_000, later),
    total: null,
    bytes: longestMessage,
  };
}

/** On whose behalf goes what no task asks for. */
const ownScope: EgressScope = { taskId: null, correlationId: null, tags: {} };

/** A stream for news is opened again after a pause that grows up to this, in milliseconds. */
const longestPause = 300_000;

/**
 * Makes a transport over streamable HTTP that goes out through the egress policy as the daemon's own, to the origin
 * that the settings name and to no other, in the scope of the task that calls.
 */
export function httpTransport(
  server: McpServerSettings,
  egress: ServerEgress,
  clock: Pick<Clock, 'now'>,
): StreamableHTTPClientTransport {
  const { url, headers } = server;
  const secrets = serverSecrets(server);
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
    const response = await egress.within(scope, () => egress.fetch(input, init), limits);
    if (isNews) return response;
    const id = idOf(init?.body);
    if (response.status >= 400) {
      const session = new Headers(init?.headers).get('mcp-session-id');
      const redact = (text: string) => redactSecrets(text, secrets);
      return readRefusal(response, { id, session, now: clock.now(), redact });
    }
    // The SDK takes it for an answer that comes later.
    if (id !== null && response.status === 202) throw new HttpRefusal(response, 'and no answer');
    return watched(response, id, brokenOff);
  };
  const transport = new StreamableHTTPClientTransport(address, {
    fetch: send,
    requestInit: { headers },
  });
  // The SDK calls this before it acts on a message, and not at all on one for which it throws.
  transport.onmessage = (message) => {
    pass(message);
    redactError(message, secrets);
  };
  /** The SDK leaves a request whose answer breaks off without one, which would wait for its deadline. */
  const brokenOff = (id: unknown, error: unknown) => {
    const reason = error instanceof Error ? error.message : 'the connection was lost';
    const message = `the answer broke off (${reason})`;
    const told = JSONRPCMessageSchema.safeParse({
      ...{ jsonrpc: '2.0', id },
      error: { code: ErrorCode.ConnectionClosed, message },
    });
    if (told.success) transport.onmessage?.(told.data);
  };
  return transport;
}

/** A pause does not keep the daemon from ending. */
function unheld(init: RequestInit | undefined) {
  const signal = init?.signal ?? undefined;
  return { ref: false, ...(signal === undefined ? {} : { signal }) };
}

/** A stream with none of these has no answer, and none that may be asked for later by the id of an event. */
const isEnd = /"result"|"error"|^id:/m;

/** Passes an answer on, and tells of one that breaks off half-way. */
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

/** Returns the id of a request; `null` for what wants no answer. */
function idOf(body: unknown): unknown {
  if (typeof body !== 'string') return null;
  try {
    const { id, method } = JSON.parse(body) as { id?: unknown; method?: unknown };
    return method === undefined ? null : (id ?? null);
  } catch {
    return null;
  }
}
