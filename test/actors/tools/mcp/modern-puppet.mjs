/**
 * An MCP server of 2026-07-28 that offers what a test tells it to. Over stdio it serves alone, with the tools in the
 * variable TOOLS.
 */
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const text = (value) => ({ content: [{ type: 'text', text: value }] });

/** Creates a server with the tools that `list` returns; a tool without a play returns its arguments. */
export function modernServer(list, plays = {}, capabilities = {}) {
  const server = new Server(
    { name: 'puppet', version: '1' },
    { capabilities: { tools: { listChanged: true }, ...capabilities } },
  );
  server.setRequestHandler('tools/list', () => ({ tools: list() }));
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const play = plays[params.name];
    return play === undefined
      ? text(JSON.stringify(params.arguments))
      : play(params.arguments, context);
  });
  return server;
}

if (process.env.TOOLS !== undefined) {
  const tools = JSON.parse(process.env.TOOLS);
  const legacy = process.env.LEGACY ?? 'reject';
  serveStdio(() => modernServer(() => tools), { legacy });
}
