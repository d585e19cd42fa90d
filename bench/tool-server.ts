import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** An MCP server without sessions whose one tool answers at once. */

interface Asked {
  id?: number;
  method: string;
}

const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    serverInfo: { name: 'bench', version: '1' },
    capabilities: { tools: {} },
  },
  'tools/list': {
    tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
  },
  'tools/call': { content: [{ type: 'text', text: 'seen' }] },
};

const server = createServer((request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  void json(request).then((body) => {
    const { id, method } = body as Asked;
    if (id === undefined) return response.writeHead(202).end();
    const result = results[method];
    const error = { code: -32_601, message: 'no such method' };
    const answer = { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
    return response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer));
  });
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` }));
});
process.once('SIGTERM', () => process.exit());
