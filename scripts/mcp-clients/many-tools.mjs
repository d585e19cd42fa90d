// An MCP server over stdio that offers as many tools as its argument says; it answers nothing else.
import { createInterface } from 'node:readline';

const properties = Object.fromEntries(
  ['id', 'path', 'query', 'limit', 'order'].map((name) => [
    name,
    { type: 'string', description: `The ${name} of what is asked for.` },
  ]),
);
const inputSchema = { type: 'object', properties, required: ['id'] };
const tools = Array.from({ length: Number(process.argv[2]) }, (_, n) => ({
  name: `tool_${n + 1}`,
  description: `Does the thing of number ${n + 1}, and returns what came of it.`,
  inputSchema,
}));
const serverInfo = { name: 'many', version: '1' };
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const results = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo,
    },
    'tools/list': { tools },
    ping: {},
  };
  if (id !== undefined)
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }));
}
