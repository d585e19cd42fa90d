import { hash } from 'node:crypto';
import {
  type JSONRPCMessage,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { RoutedContext } from '../request-state.ts';
import { fieldOf } from '../wire/field-of.ts';
import { Problem } from '../wire/problem.ts';
import { EventStream } from '../wire/sse.ts';
import type { McpRequest } from './call-ports.ts';
import { callOffElsewhere } from './call-tool.ts';
import { opensLinks } from './client-abilities.ts';
import { recordAnswer } from './decision-link.ts';
import type { Listeners } from './listeners.ts';
import { type McpServing, mcpServer } from './mcp-server.ts';
import { sendAnswer } from './send-answer.ts';
import type { SessionId, SessionIds } from './session-id.ts';

/** The MCP requests that this daemon is answering, by session and ID. */
class RequestsUnderWay {
  readonly #bySession = new Map<string, Map<unknown, Transport>>();

  /** Adds a request; returns a function that removes it. */
  add(session: string, id: unknown, transport: Transport): () => void {
    const requests = this.#bySession.get(session) ?? new Map<unknown, Transport>();
    this.#bySession.set(session, requests.set(id, transport));
    return () => {
      if (requests.get(id) !== transport) return;
      requests.delete(id);
      if (requests.size === 0 && this.#bySession.get(session) === requests) {
        this.#bySession.delete(session);
      }
    };
  }

  /**
   * Forwards a cancel notification to the transport that answers the request. Returns true if the request is at this
   * daemon.
   */
  cancel(session: string, notification: object): boolean {
    const id = fieldOf(fieldOf(notification, 'params'), 'requestId');
    const transport = this.#bySession.get(session)?.get(id);
    transport?.onmessage?.(notification as JSONRPCMessage);
    return transport !== undefined;
  }

  /** Ends every request of a session as if its client had disconnected. */
  end(session: string): void {
    for (const transport of this.#bySession.get(session)?.values() ?? []) void transport.close();
    this.#bySession.delete(session);
  }
}

/** Maximum number of remembered ended sessions. */
const mostEnded = 4_096;

/** Request headers that the SDK reads. */
const known = ['accept', 'content-type'];

/**
 * The sessions of MCP clients up to MCP 2025-11-25. A session is its signed ID: it needs no memory except for open requests, survives a
 * restart of the daemon, and is valid at every daemon with the key.
 */
export class McpSessions {
  readonly #serving: McpServing;
  readonly #ids: SessionIds;
  readonly #listeners: Listeners;
  readonly #underWay = new RequestsUnderWay();
  /** Sessions that their clients ended here, oldest first. */
  readonly #ended = new Set<string>();

  constructor(serving: McpServing, ids: SessionIds, listeners: Listeners) {
    this.#serving = serving;
    this.#ids = ids;
    this.#listeners = listeners;
  }

  /** Answers one client request; `message` is its JSON-RPC message, `null` without one. Throws Problem. */
  async answer(ctx: RoutedContext, message: object | null): Promise<void> {
    if (message !== null && fieldOf(message, 'method') === 'initialize') {
      return this.#begin(ctx, message);
    }
    const session = this.#sessionOf(ctx);
    if (message !== null) return this.#take(ctx, session, message);
    if (ctx.method === 'DELETE') return this.#end(ctx, session);
    this.#listen(ctx, session);
  }

  /** Returns the session of a request. Throws Problem. */
  #sessionOf(ctx: RoutedContext): SessionId {
    const text = ctx.get('Mcp-Session-Id');
    if (text === '') {
      throw new Problem(
        'mcp_session_required',
        'send the Mcp-Session-Id that initialize was answered with',
      );
    }
    const session = this.#ids.read(text, ctx.state.caller);
    if (session !== null && !this.#ended.has(text)) return session;
    throw new Problem(
      'mcp_session_not_found',
      'there is no such session; begin another with initialize',
    );
  }

  async #begin(ctx: RoutedContext, message: object): Promise<void> {
    const params = fieldOf(message, 'params');
    const asked = fieldOf(params, 'protocolVersion');
    const links = opensLinks(fieldOf(params, 'capabilities'));
    const session = this.#ids.make(ctx.state.caller, asked, links);
    ctx.set('Mcp-Session-Id', session.text);
    await this.#dispatch(ctx, session, message);
  }

  async #take(ctx: RoutedContext, session: SessionId, message: object): Promise<void> {
    const method = fieldOf(message, 'method');
    if (method === undefined) await recordAnswer(ctx.state.tasks, fieldOf(message, 'id'));
    if (method !== 'notifications/cancelled') return this.#dispatch(ctx, session, message);
    if (!this.#underWay.cancel(session.text, message)) {
      const params = fieldOf(message, 'params');
      const alias = aliasOf(session, fieldOf(params, 'requestId'));
      const { log, onDisconnect } = this.#serving.ports;
      const calledOff = { alias, reason: fieldOf(params, 'reason') };
      await callOffElsewhere(ctx.state, calledOff, onDisconnect).catch((error: unknown) =>
        log.error({ error }, 'mcp: a call of another daemon could not be canceled'),
      );
    }
    accept(ctx);
  }

  /** Passes a message to the SDK. The SDK objects created for it are dropped with the response. */
  async #dispatch(ctx: RoutedContext, session: SessionId, message: object): Promise<void> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      // The response stream sends its own keep-alives.
      keepAliveMs: 0,
    });
    const gone = new AbortController();
    const id = fieldOf(message, 'id');
    if (id !== undefined && !ctx.res.closed) {
      const release = this.#underWay.add(session.text, id, transport);
      ctx.res.once('close', release);
    }
    const request: McpRequest = {
      state: ctx.state,
      gone: gone.signal,
      alias: aliasOf(session, id),
      opensLinks: session.opensLinks,
    };
    await mcpServer(this.#serving, request, 'legacy').connect(transport);
    const headers = known
      .filter((name) => ctx.get(name) !== '')
      .map((name): [string, string] => [name, ctx.get(name)]);
    headers.push(['mcp-protocol-version', spokenIn(ctx, session)]);
    const answer = await transport.handleRequest(
      new Request('http://mcp.invalid/mcp', { method: 'POST', headers }),
      { parsedBody: message },
    );
    await sendAnswer(ctx, answer, () => gone.abort());
  }

  /** Ends a session's open requests at this daemon. This daemon rejects the session's ID until it restarts. */
  #end(ctx: RoutedContext, { text }: SessionId): void {
    this.#ended.add(text);
    const [oldest] = this.#ended;
    if (oldest !== undefined && this.#ended.size > mostEnded) this.#ended.delete(oldest);
    this.#underWay.end(text);
    this.#listeners.end(text);
    ctx.status = 200;
    ctx.body = '';
    ctx.remove('Content-Type');
  }

  #listen(ctx: RoutedContext, session: SessionId): void {
    if (!ctx.get('Accept').includes('text/event-stream')) {
      throw new Problem('invalid_header', 'listening takes Accept: text/event-stream');
    }
    const isSupported = SUPPORTED_PROTOCOL_VERSIONS.includes(spokenIn(ctx, session));
    if (!isSupported) throw new Problem('invalid_header', unsupported);
    ctx.set('Mcp-Session-Id', session.text);
    const stream = new EventStream(ctx, () => leave());
    const { caller, traffic } = ctx.state;
    const tools = () => this.#serving.listing.digest(caller);
    const leave = this.#listeners.add(session.text, { share: traffic.name, stream, tools });
  }
}

const unsupported = `the MCP-Protocol-Version is none of ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}`;

/** Returns the MCP version of a request, or of its session. */
function spokenIn(ctx: RoutedContext, { protocolVersion }: SessionId): string {
  return ctx.get('MCP-Protocol-Version') || protocolVersion;
}

/** Returns the alias under which other daemons find a request's call. */
function aliasOf({ text }: SessionId, id: unknown): string {
  return hash('sha256', JSON.stringify(['mcp request', text, id]), 'base64url');
}

function accept(ctx: RoutedContext): void {
  ctx.status = 202;
  ctx.body = '';
  ctx.remove('Content-Type');
}
