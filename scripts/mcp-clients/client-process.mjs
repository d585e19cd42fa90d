// One MCP client in its default settings: `node client-process.mjs KIND PACKAGE MODULES URL`. Takes commands as lines of
// JSON on stdin, `{tool, args}` or `{list: true}`, and answers each with a line of JSON.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [kind, name, modules, url] = process.argv.slice(2);
const load = (path) => import(`${modules}/${path}`);
const bin = (command) => `${modules}/.bin/${command}`;

async function sdkClient(path, transportOf) {
  const { Client } = await load(`${path}/dist/esm/client/index.js`);
  const client = new Client({ name: 'matrix', version: '1' }, { capabilities: {} });
  await client.connect(await transportOf());
  return fromClient(client);
}

const fromClient = (client) => ({
  list: async () => (await client.listTools()).tools.length,
  call: (tool, args) => client.callTool({ name: tool, arguments: args }),
});

const overStdio = (command, args) =>
  sdkClient('sdk132', async () => {
    const { StdioClientTransport } = await load('sdk132/dist/esm/client/stdio.js');
    return new StdioClientTransport({ command, args, stderr: 'ignore', env: process.env });
  });

function inspector(...args) {
  const inspecting = spawn(bin('mcp-inspector'), ['--cli', url, '--transport', 'http', ...args]);
  let [out, error] = ['', ''];
  inspecting.stdout.on('data', (data) => (out += data));
  inspecting.stderr.on('data', (data) => (error += data));
  return new Promise((resolve, reject) =>
    inspecting.on('close', (code) =>
      code === 0 ? resolve(JSON.parse(out)) : reject(new Error(error.slice(0, 300))),
    ),
  );
}

const kinds = {
  sdk: () =>
    sdkClient(name, async () => {
      const path = `${name}/dist/esm/client/streamableHttp.js`;
      const { StreamableHTTPClientTransport } = await load(path);
      return new StreamableHTTPClientTransport(new URL(url));
    }),
  async v2() {
    const { Client, StreamableHTTPClientTransport } = await load(`${name}/dist/index.mjs`);
    const client = new Client({ name: 'matrix', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return fromClient(client);
  },
  async aisdk() {
    const { createMCPClient } = await load(`${name}/dist/index.js`);
    const client = await createMCPClient({ transport: { type: 'http', url } });
    const tools = await client.tools();
    const options = { messages: [], toolCallId: '1' };
    return {
      list: async () => Object.keys(tools).length,
      call: (tool, args) => tools[tool].execute(args, options),
    };
  },
  async langchain() {
    const { MultiServerMCPClient } = await load(`${name}/dist/index.js`);
    const client = new MultiServerMCPClient({ mcpServers: { s: { transport: 'http', url } } });
    const tools = await client.getTools();
    return {
      list: async () => tools.length,
      call: (tool, args) => tools.find((each) => each.name.endsWith(tool)).invoke(args),
    };
  },
  async agents() {
    const { MCPServerStreamableHttp } = await load(`${name}/dist/index.mjs`);
    const server = new MCPServerStreamableHttp({ url, name: 's' });
    await server.connect();
    return {
      list: async () => (await server.listTools()).length,
      call: (tool, args) => server.callTool(tool, args),
    };
  },
  remote: () => overStdio(bin('mcp-remote'), [url, '--allow-http']),
  supergateway: () => overStdio(bin('supergateway'), ['--streamableHttp', url]),
  inspector: () => ({
    list: async () => (await inspector('--method', 'tools/list')).tools.length,
    call: (tool, args) => {
      const given = Object.entries(args).flatMap(([key, value]) => [
        '--tool-arg',
        `${key}=${value}`,
      ]);
      return inspector('--method', 'tools/call', '--tool-name', tool, ...given);
    },
  }),
};

const say = (answer) => console.log(JSON.stringify(answer));
// A stream that breaks off is reported to some clients alone.
process.on('uncaughtException', () => undefined);
process.on('unhandledRejection', () => undefined);
try {
  const client = await kinds[kind]();
  say({ text: 'connected' });
  for await (const line of createInterface({ input: process.stdin })) {
    const { list = false, tool, args } = JSON.parse(line);
    try {
      const text = JSON.stringify(list ? await client.list() : await client.call(tool, args));
      say({ text });
    } catch (error) {
      say({ error: String(error?.message ?? error).slice(0, 200) });
    }
  }
} catch (error) {
  say({ error: String(error?.message ?? error).slice(0, 200) });
}
process.exit();
