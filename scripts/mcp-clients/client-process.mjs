// One MCP client in its default settings: `node client-process.mjs KIND PACKAGE MODULES URL`. Takes commands as lines of
// JSON on stdin, `{tool, args}` or `{list: true}`, and answers each with a line of JSON.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [kind, name, modules, url] = process.argv.slice(2);
const load = (path) => import(`${modules}/${path}`);
const bin = (command) => `${modules}/.bin/${command}`;

async function sdkClient(path, transportOf) {
  return fromClient(await connected(path, transportOf));
}

async function connected(path, transportOf) {
  const { Client } = await load(`${path}/dist/esm/client/index.js`);
  const client = new Client({ name: 'matrix', version: '1' }, { capabilities: {} });
  await client.connect(await transportOf());
  return client;
}

const sdkClientOf = (path) =>
  connected(path, async () => {
    const { StreamableHTTPClientTransport } = await load(
      `${path}/dist/esm/client/streamableHttp.js`,
    );
    return new StreamableHTTPClientTransport(new URL(url));
  });

const fromClient = (client) => ({
  list: async () => (await client.listTools()).tools.length,
  call: (tool, args) => client.callTool({ name: tool, arguments: args }),
});

const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };

async function v2Client(options) {
  const { Client, StreamableHTTPClientTransport } = await load(
    '@modelcontextprotocol/client/dist/index.mjs',
  );
  const client = new Client({ name: 'matrix', version: '1' }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** Calls tools by the official client of tasks. */
async function taskSession(client, more) {
  const tasks = await load('@modelcontextprotocol/ext-tasks/dist/client/index.js');
  const { createTaskSessionFromClient, resultFromTaskOutcome, toolDeclarationFromMcpTool } = tasks;
  const session = createTaskSessionFromClient(client, { endpointId: 'matrix', ...more });
  return {
    async call(tool, args) {
      const { tools } = await client.listTools();
      const declared = tools.find((each) => each.name === tool);
      const declaration = toolDeclarationFromMcpTool(declared);
      const execution = await session.callTool(tool, args, {
        declaration,
        task: { preference: 'prefer' },
      });
      const { outcome } = await execution.settle();
      return resultFromTaskOutcome(outcome);
    },
  };
}

/** Sends one message of MCP 2026-07-28, which the client of tasks leaves to its host. */
async function post(request) {
  const { method, params } = request;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...((params.name ?? params.taskId) ? { 'mcp-name': params.name ?? params.taskId } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...request }),
  });
  const text = await response.text();
  return JSON.parse(text.startsWith('{') ? text : text.replace(/^[^]*\ndata: /, ''));
}

/** Calls a tool as a task of the SDK of version 1. */
async function streamed(client, name, args) {
  const stream = client.experimental.tasks.callToolStream({ name, arguments: args });
  for await (const { type, result, error } of stream) {
    if (type === 'result') return result;
    if (type === 'error') throw error;
  }
}

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
  sdk: async () => fromClient(await sdkClientOf(name)),
  v2: async () => fromClient(await v2Client({})),
  modern: async () => fromClient(await v2Client(pinned)),
  async sdkTasks() {
    const client = await sdkClientOf(name);
    return { ...fromClient(client), call: (tool, args) => streamed(client, tool, args) };
  },
  async legacyTasks() {
    const client = await v2Client({});
    return { ...fromClient(client), ...(await taskSession(client, {})) };
  },
  async modernTasks() {
    const client = await v2Client(pinned);
    const framing = {
      protocolVersion: '2026-07-28',
      clientInfo: { name: 'matrix', version: '1' },
      clientCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    };
    const more = { rawDispatch: post, v2RequestFraming: framing };
    return { ...fromClient(client), ...(await taskSession(client, more)) };
  },
  async mastra() {
    const { MCPClient } = await load('@mastra/mcp/dist/index.js');
    const client = new MCPClient({ servers: { s: { url: new URL(url) } } });
    const tools = await client.listTools();
    return {
      list: async () => Object.keys(tools).length,
      call: (tool, args) => tools[`s_${tool}`].execute(args),
    };
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
