// Tries MCP servers with the agent's side of MCP and prints the table of docs/mcp.md: `npm run mcp-servers`, with `--dir` to
// keep what is installed. The servers come from the npm registry, with exact versions. Takes a minute.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Tool, ToolError } from '../src/actors/ports/tool.ts';
import { systemClock } from '../src/actors/system-clock.ts';
import { connectMcpServers } from '../src/actors/tools/mcp/mcp-servers.ts';
import { packages, servers, type TriedServer } from './mcp-servers/servers.ts';

const { dir } = parseArgs({ options: { dir: { type: 'string' } } }).values;

const folder = dir ?? mkdtempSync(join(tmpdir(), 'mcp-servers-'));
process.on('exit', () => {
  if (dir === undefined) rmSync(folder, { recursive: true, force: true });
});

install();
console.log('| Server | MCP | Tools | Omitted | Call |');
console.log('|---|---|---|---|---|');
for (const [index, server] of servers.entries()) {
  console.log(`| ${[server.title, ...(await tried(server, index))].join(' | ')} |`);
}

/** Returns the version of MCP, the numbers of usable and of unusable tools, and the outcome of the call. */
async function tried(server: TriedServer, index: number): Promise<string[]> {
  const directory = join(folder, `agent-${index}`);
  mkdirSync(join(directory, '.service'), { recursive: true });
  if (server.file !== undefined) writeFileSync(join(directory, server.file), 'A-1042');
  const within = (word: string) => word.replace(/^\.(?=$|\/)/, directory);
  const tools = new Map<string, Tool>();
  const warnings: string[] = [];
  let version = 'none';
  const open = connectMcpServers({
    servers: [
      {
        name: 'tried',
        command: 'node',
        args: [programOf(server), ...server.args.map(within)],
        env: Object.fromEntries(
          Object.entries(server.env ?? {}).map(([name, value]) => [name, within(value)]),
        ),
        headers: {},
        tools: { deny: [] },
      },
    ],
    tools,
    version: '1',
    agentDirectory: directory,
    isIdempotent: () => false,
    isHeld: () => false,
    ruled: () => [],
    isolation: () => ({ proxy: null, sandbox: 'env' }),
    egress: { fetch: globalThis.fetch, scope: () => null, within: (_, send) => send() },
    env: {},
    clock: systemClock(),
    log: {
      info: (fields) => {
        version = String((fields as { mcp?: string }).mcp ?? version);
      },
      warn: (_, message) => void warnings.push(message),
      error: (_, message) => void warnings.push(message),
    },
    record: async () => undefined,
  });
  try {
    await open.tried();
    const left = warnings.filter((message) => message.includes('is omitted')).length;
    const faults = warnings.filter((message) => !message.includes('is omitted'));
    if (tools.size === 0) return [version, '0', String(left), faults.join('; ')];
    return [version, String(tools.size), String(left), await outcomeOf(server, tools)];
  } finally {
    await open.stop();
  }
}

async function outcomeOf(
  { call, needs = 'more' }: TriedServer,
  tools: Map<string, Tool>,
): Promise<string> {
  if (call === undefined) return `not tried, needs ${needs}`;
  const tool = tools.get(`tried__${call.tool}`);
  if (tool === undefined) return `no: the tool ${call.tool} is missing`;
  const { signal } = new AbortController();
  const run = { taskId: 't', callId: 'c', correlationId: 'k', tags: {}, credential: null, signal };
  try {
    const text = await tool.run(call.args, run);
    return call.wanted.test(text) ? 'yes' : `no: ${text.slice(0, 100)}`;
  } catch (error) {
    if (error instanceof ToolError) return `no: ${error.message}`;
    throw error;
  }
}

function programOf(server: TriedServer): string {
  if (server.program !== undefined) {
    const path = join(folder, server.program);
    copyFileSync(join(import.meta.dirname, 'mcp-servers', server.program), path);
    return path;
  }
  const manifest = join(folder, 'node_modules', server.package ?? '', 'package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: string | object };
  const path = typeof bin === 'string' ? bin : String(Object.values(bin)[0]);
  return join(dirname(manifest), path);
}

function install(): void {
  const manifest = { private: true, type: 'module', dependencies: packages };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
  const words = ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--ignore-scripts'];
  execFileSync('npm', words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}
