import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import type { RoutedContext } from '../request-state.ts';
import { fieldOf } from '../wire/field-of.ts';
import type { EventStream } from '../wire/sse.ts';
import type { CallPorts, McpRequest } from './call-ports.ts';
import { Listeners } from './listeners.ts';
import type { McpFace } from './mcp-face.ts';
import { type McpServing, mcpServer } from './mcp-server.ts';
import { McpSessions } from './mcp-sessions.ts';
import { sendAnswer } from './send-answer.ts';
import { SessionIds } from './session-id.ts';
import { ToolListing } from './tool-listing.ts';

/** Request headers that the SDK reads, in addition to those that begin with `mcp-`. */
const known = new Set(['accept', 'content-type']);

/** The method that opens a stream of notifications. */
const listenMethod = 'subscriptions/listen';

/** The requests of MCP clients from MCP 2026-07-28 on, which has no sessions. */
class ModernRequests {
  readonly #serving: McpServing;
  readonly #listeners: Listeners;
  readonly #handler: McpHttpHandler;

  constructor(serving: McpServing, listeners: Listeners) {
    this.#serving = serving;
    this.#listeners = listeners;
    this.#handler = this.#newHandler();
  }

  /** Answers one client request. */
  async answer(ctx: RoutedContext, message: object): Promise<void> {
    const isListening = fieldOf(message, 'method') === listenMethod;
    // A handler notifies all its streams, but each caller has tools of its own.
    const handler = isListening ? this.#newHandler() : this.#handler;
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    ctx.res.once('close', leave);
    const request: McpRequest = { state: ctx.state, gone: gone.signal, opensLinks: false };
    const headers = Object.entries(ctx.headers).filter(
      (header): header is [string, string] =>
        typeof header[1] === 'string' && (known.has(header[0]) || header[0].startsWith('mcp-')),
    );
    const answer = await handler.fetch(
      new Request('http://mcp.invalid/mcp', { method: 'POST', headers, signal: gone.signal }),
      {
        parsedBody: message,
        // The only field through which the SDK passes data to a new server.
        authInfo: { token: '', clientId: '', scopes: [], extra: { ...request } },
      },
    );
    if (ctx.res.destroyed) return;
    const stream = await sendAnswer(ctx, answer, leave);
    if (stream !== null && isListening) this.#listen(ctx, stream, handler);
  }

  #listen(ctx: RoutedContext, stream: EventStream, { notify, close }: McpHttpHandler): void {
    const { caller, traffic } = ctx.state;
    const left = this.#listeners.add(Symbol(listenMethod), {
      share: traffic.name,
      stream: { send: () => notify.toolsChanged(), end: () => stream.end() },
      tools: () => this.#serving.listing.digest(caller),
    });
    ctx.res.once('close', () => {
      left();
      void close();
    });
  }

  #newHandler(): McpHttpHandler {
    return createMcpHandler(
      ({ authInfo }) =>
        mcpServer(this.#serving, authInfo?.extra as unknown as McpRequest, 'modern'),
      // The response stream sends its own keep-alives.
      { legacy: 'reject', keepAliveMs: 0, onerror: () => undefined },
    );
  }
}

/** Answers one request of a client; `message` is `null` for a request without one. Rejects with Problem. */
export type ServeMessage = (ctx: RoutedContext, message: object | null) => Promise<void>;

/** Serves clients of every generation of MCP: a request that states no version of its own belongs to a session. */
export function serveMcp(face: McpFace, ports: CallPorts, key: Buffer): ServeMessage {
  const listeners = new Listeners();
  const serving = { face, ports, listing: new ToolListing(face, ports.log) };
  const sessions = new McpSessions(serving, new SessionIds(key), listeners);
  const modern = new ModernRequests(serving, listeners);
  face.onToolsChanged(() => listeners.toolsChanged());
  return async function serveMessage(ctx, message) {
    if (message === null || (await isLegacy(ctx, message))) return sessions.answer(ctx, message);
    return modern.answer(ctx, message);
  };
}

function isLegacy(ctx: RoutedContext, message: object): Promise<boolean> {
  const version = ctx.get('MCP-Protocol-Version');
  const headers = version === '' ? {} : { 'mcp-protocol-version': version };
  return isLegacyRequest(
    new Request('http://mcp.invalid/mcp', { method: 'POST', headers }),
    message,
  );
}
