import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request that reached a server. */
interface Seen {
  method: string;
  headers: IncomingMessage['headers'];
}

/** Answers a request in place of the server; `false` leaves it to the server. */
type Instead = (request: IncomingMessage, response: ServerResponse, body: string) => boolean;

/** An MCP server over streamable HTTP, without sessions, whose tools return their name and arguments. */
export class ToolServer {
  readonly url: string;
  /** The tools that it offers, by name. */
  tools: readonly string[];
  /** Names and arguments of the calls that it ran. */
  readonly ran: [string, unknown][] = [];
  readonly seen: Seen[] = [];
  instead: Instead = () => false;
  readonly #close: () => Promise<void>;

  constructor(url: string, tools: readonly string[], close: () => Promise<void>) {
    this.url = url;
    this.tools = tools;
    this.#close = close;
  }

  /** Ends the server, as if its machine had been switched off. */
  stop(): Promise<void> {
    return this.#close();
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = Buffer.concat(await request.toArray()).toString();
    this.seen.push({ method: request.method ?? '', headers: request.headers });
    if (this.instead(request, response, text)) return;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return void response.writeHead(202).end();
    const body = { jsonrpc: '2.0', id, ...this.#resultOf(method, params) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #resultOf(method: string, params: { name: string; arguments: unknown }): object {
    if (method === 'initialize') {
      const serverInfo = { name: 'server', version: '1' };
      return {
        result: { protocolVersion: '2025-06-18', serverInfo, capabilities: { tools: {} } },
      };
    }
    if (method === 'tools/list') {
      const tools = this.tools.map((name) => ({
        name,
        description: `Does ${name}.`,
        inputSchema: { type: 'object', properties: { order: { type: 'string' } } },
      }));
      return { result: { tools } };
    }
    if (method !== 'tools/call') return { error: { code: -32_601, message: 'unknown method' } };
    this.ran.push([params.name, params.arguments]);
    const said = `${params.name} ${JSON.stringify(params.arguments)}`;
    return { result: { content: [{ type: 'text', text: said }] } };
  }
}

/** Starts a server that is stopped after the test. */
export async function startToolServer(tools: readonly string[]): Promise<ToolServer> {
  const server = createServer((request, response) => void started.answer(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((done) => server.close(done));
  };
  onTestFinished(stop);
  const started = new ToolServer(`http://127.0.0.1:${port}/mcp`, tools, stop);
  return started;
}
