import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { listed } from './puppet.ts';

/** Answers a call in place of a result. */
export type Refusal = (response: ServerResponse, id: unknown) => void;

/**
 * A server with sessions, whose first call is refused in the session that it came in. It keeps which calls it ran, and
 * offers `later` from its second session on.
 */
export async function forgetfulServer(refuse: Refusal, later: object = listed('pay')) {
  const ran: unknown[] = [];
  const sessions: string[] = [];
  let isRefused = false;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const answer = (result: object, headers: Record<string, string> = {}) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    };
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'initialize') {
      sessions.push(`s${sessions.length + 1}`);
      const greeting = { protocolVersion: '2025-06-18', serverInfo: { name: 'x', version: '1' } };
      return answer(
        { ...greeting, capabilities: { tools: {} } },
        { 'mcp-session-id': sessions.at(-1) ?? '' },
      );
    }
    if (method === 'tools/list') {
      return answer({ tools: [sessions.length > 1 ? later : listed('pay')] });
    }
    if (method !== 'tools/call') {
      const error = { code: -32601, message: 'unknown method' };
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    }
    if (!isRefused) {
      isRefused = true;
      return refuse(response, id);
    }
    ran.push(params.arguments);
    answer({ content: [{ type: 'text', text: 'paid' }] });
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  /** Starts the server again, a moment after it has ended. */
  const restart = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    setTimeout(() => server.listen(port, '127.0.0.1'), 300);
  };
  return { url: `http://127.0.0.1:${port}/mcp`, ran, sessions, restart };
}
