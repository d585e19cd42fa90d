import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Clock } from '../../actors/ports.ts';
import type { Caller } from '../../machines/task/task.ts';
import type { RoutedContext } from '../request-state.ts';
import { fieldOf } from '../wire/field-of.ts';
import { Problem } from '../wire/problem.ts';
import type { CallPorts, McpRequest } from './call-tool.ts';
import { isGreeting, shortGreeting } from './mcp-greeting.ts';
import { type McpFace, mcpServer } from './mcp-server.ts';
import { sendAnswer } from './send-answer.ts';
import { type PooledSession, type SessionLimits, SessionPool } from './session-pool.ts';

/** Bytes that one session is counted with: the objects of the SDK, and the few words of a client that are kept. */
const sessionBytes = 32 * 1024;

/** Bytes of all sessions together. */
const mostBytes = 128 * 1024 * 1024;

const usualLimits: SessionLimits = {
  most: mostBytes / sessionBytes,
  mostOfShare: 100,
  longestRest: 3_600_000,
};

/** The longest id of a message, in characters: the SDK keeps it for as long as the call takes. */
const longestId = 256;

interface Session extends PooledSession {
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
  readonly #sessions: SessionPool<Session>;

  constructor(face: McpFace, ports: CallPorts & { clock: Clock }, limits = usualLimits) {
    this.#face = face;
    this.#ports = ports;
    this.#sessions = new SessionPool(limits, ports.clock);
    face.onToolsChanged(() => this.#tellOfTools());
  }

  /** Answers one request of a client. Throws Problem. */
  async answer(ctx: RoutedContext): Promise<void> {
    const { body } = ctx.request as { body?: unknown };
    const message = ctx.method === 'POST' ? readMessage(body) : null;
    const { transport } = await this.#sessionOf(ctx, message);
    this.#keepWhileOpen(ctx, message);
    const gone = new AbortController();
    const request: McpRequest = { state: ctx.state, gone: gone.signal };
    const headers = known
      .filter((name) => ctx.get(name) !== '')
      .map((name): [string, string] => [name, ctx.get(name)]);
    const answer = await transport.handleRequest(
      new Request('http://mcp.invalid/mcp', { method: ctx.method, headers }),
      {
        ...(message === null ? {} : { parsedBody: message }),
        // The one way to hand something on to the handler of a message.
        authInfo: { token: '', clientId: '', scopes: [], extra: { ...request } },
      },
    );
    await sendAnswer(ctx, answer, () => gone.abort());
  }

  /** A session stays while a call of it is answered, be it held for days, and does not rest while its client listens. */
  #keepWhileOpen(ctx: RoutedContext, message: object | null): void {
    const id = ctx.get('Mcp-Session-Id');
    if (id === '' || ctx.res.closed) return;
    const release =
      message === null
        ? this.#ports.beats.start(() => void this.#sessions.find(id))
        : this.#sessions.begin(id);
    ctx.res.once('close', release);
  }

  /** Finds the session of a request, or begins one for a client that greets. Throws Problem. */
  async #sessionOf(ctx: RoutedContext, message: object | null): Promise<Session> {
    const id = ctx.get('Mcp-Session-Id');
    const owner = ownerOf(ctx.state.caller);
    if (id !== '') {
      const session = this.#sessions.find(id);
      if (session?.owner === owner) return session;
      throw new Problem(404, { error: 'there is no such session; begin another with initialize' });
    }
    if (!isGreeting(message)) {
      throw new Problem(400, {
        error: 'send the Mcp-Session-Id that initialize was answered with',
      });
    }
    const share = ctx.state.traffic.name;
    if (!this.#sessions.hasRoom(share)) {
      const error = 'as many MCP sessions as there may be have a call under way; try again later';
      throw new Problem(503, { error }, { 'Retry-After': '10' });
    }
    const server = mcpServer(this.#face, this.#ports);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (began) => this.#sessions.add(began, session),
      onsessionclosed: (ended) => this.#sessions.delete(ended),
      // The stream of the answer says itself that it goes on.
      keepAliveMs: 0,
    });
    const session: Session = {
      server,
      transport,
      owner,
      share,
      close: () => void transport.close(),
    };
    await server.connect(transport as Transport);
    return session;
  }

  /** Tells every client that listens that the tools are no longer those that it was shown. */
  #tellOfTools(): void {
    for (const { server } of this.#sessions.sessions()) {
      server.sendToolListChanged().catch(() => undefined);
    }
  }
}

/** Returns the message of a POST. Throws Problem. */
function readMessage(body: unknown): object {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem(400, { error: 'send one JSON-RPC message as the body' });
  }
  const id = fieldOf(body, 'id');
  if (typeof id === 'string' && id.length > longestId) {
    const error = `the id of a JSON-RPC message has at most ${longestId} characters`;
    throw new Problem(400, { error });
  }
  return isGreeting(body) ? shortGreeting(body) : body;
}

function ownerOf(caller: Caller | null): string {
  if (caller === null) return '';
  const { provider, userId, orgId, workspaceId } = caller;
  return JSON.stringify([provider, userId, orgId ?? null, workspaceId ?? null]);
}
