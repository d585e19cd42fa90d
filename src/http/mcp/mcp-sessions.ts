import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../machines/task/task.ts';
import type { RoutedContext } from '../request-state.ts';
import { fieldOf } from '../wire/field-of.ts';
import { Problem } from '../wire/problem.ts';
import type { CallPorts, McpRequest } from './call-tool.ts';
import { type McpFace, mcpServer } from './mcp-server.ts';
import { sendAnswer } from './send-answer.ts';

/** Sessions that are kept at once, and how long one is that nobody uses (ms). */
const mostSessions = 1_000;
const longestRest = 3_600_000;

interface Session {
  server: Server;
  transport: WebStandardStreamableHTTPServerTransport;
  /** Whoever began it; nobody else finds it. */
  owner: string;
}

/** Headers of a request that the SDK reads. */
const known = ['accept', 'content-type', 'mcp-session-id', 'mcp-protocol-version'];

/** The sessions of MCP clients. They are in memory alone: a client whose session is gone greets again. */
export class McpSessions {
  readonly #face: McpFace;
  readonly #ports: CallPorts;
  readonly #sessions = new LRUCache<string, Session>({
    max: mostSessions,
    ttl: longestRest,
    updateAgeOnGet: true,
    dispose: ({ transport }) => void transport.close(),
  });

  constructor(face: McpFace, ports: CallPorts) {
    this.#face = face;
    this.#ports = ports;
    face.onToolsChanged(() => this.#tellOfTools());
  }

  /** Answers one request of a client. Throws Problem. */
  async answer(ctx: RoutedContext): Promise<void> {
    const { body } = ctx.request as { body?: unknown };
    if (ctx.method === 'POST' && (typeof body !== 'object' || Array.isArray(body))) {
      throw new Problem(400, { error: 'send one JSON-RPC message as the body' });
    }
    const { transport } = await this.#sessionOf(ctx, body);
    const gone = new AbortController();
    const request: McpRequest = { state: ctx.state, gone: gone.signal };
    const headers = known
      .filter((name) => ctx.get(name) !== '')
      .map((name): [string, string] => [name, ctx.get(name)]);
    const answer = await transport.handleRequest(
      new Request('http://mcp.invalid/mcp', { method: ctx.method, headers }),
      {
        ...(ctx.method === 'POST' ? { parsedBody: body } : {}),
        // The one way to hand something on to the handler of a message.
        authInfo: { token: '', clientId: '', scopes: [], extra: { ...request } },
      },
    );
    this.#keepWhileOpen(ctx);
    await sendAnswer(ctx, answer, () => gone.abort());
  }

  /** A session is in use for as long as anything of it is answered, be it a call that is held for days. */
  #keepWhileOpen(ctx: RoutedContext): void {
    const id = ctx.get('Mcp-Session-Id');
    if (id === '' || ctx.res.closed) return;
    const rest = this.#ports.beats.start(() => void this.#sessions.get(id));
    ctx.res.once('close', rest);
  }

  /** Finds the session of a request, or begins one for a client that greets. Throws Problem. */
  async #sessionOf(ctx: RoutedContext, body: unknown): Promise<Session> {
    const id = ctx.get('Mcp-Session-Id');
    const owner = ownerOf(ctx.state.caller);
    if (id !== '') {
      const session = this.#sessions.get(id);
      if (session?.owner === owner) return session;
      throw new Problem(404, { error: 'there is no such session; begin another with initialize' });
    }
    if (ctx.method !== 'POST' || fieldOf(body, 'method') !== 'initialize') {
      throw new Problem(400, {
        error: 'send the Mcp-Session-Id that initialize was answered with',
      });
    }
    const server = mcpServer(this.#face, this.#ports);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) =>
        void this.#sessions.set(session, { server, transport, owner }),
      onsessionclosed: (session) => void this.#sessions.delete(session),
      // The stream of the answer says itself that it goes on.
      keepAliveMs: 0,
    });
    await server.connect(transport as Transport);
    return { server, transport, owner };
  }

  /** Tells every client that listens that the tools are no longer those that it was shown. */
  #tellOfTools(): void {
    for (const { server } of this.#sessions.values()) {
      server.sendToolListChanged().catch(() => undefined);
    }
  }
}

function ownerOf(caller: Caller | null): string {
  if (caller === null) return '';
  const { provider, userId, orgId, workspaceId } = caller;
  return JSON.stringify([provider, userId, orgId ?? null, workspaceId ?? null]);
}
