// Tries MCP clients against an agent and prints the table of docs/mcp.md: `npm run mcp-clients`, with `--dir` to keep what is
// installed. The clients come from the npm registry, with exact versions. Takes three minutes.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ClientProcess, type Said } from './mcp-clients/client-process.ts';
import { clients, packages, type TriedClient } from './mcp-clients/clients.ts';
import { type HostClient, hostClients } from './mcp-clients/host-clients.ts';
import { listTime } from './mcp-clients/list-time.ts';
import { TriedAgent } from './mcp-clients/tried-agent.ts';

const { dir, port } = parseArgs({
  options: { dir: { type: 'string' }, port: { type: 'string', default: '21780' } },
}).values;

/** How long nobody decides, in milliseconds: most clients give up after a minute. */
const undecided = 70_000;

const folder = dir ?? mkdtempSync(join(tmpdir(), 'mcp-clients-'));
process.on('exit', () => {
  if (dir === undefined) rmSync(folder, { recursive: true, force: true });
});

/** What one client did. */
interface Row {
  title: string;
  listed: string;
  plain: string;
  held: string;
  restart: string;
}

const modules = install();
const agent = new TriedAgent(join(folder, `agent-${Date.now()}`), Number(port));
await agent.start();
try {
  const running = new Map<TriedClient, ClientProcess>();
  const rows = new Map<TriedClient, Row>();
  for (const client of clients) {
    const row = newRow(client.title);
    rows.set(client, row);
    try {
      const connected = await ClientProcess.connect(client, modules, `${agent.url}/mcp`);
      running.set(client, connected);
      row.listed = wordOf(await connected.list(), /^3$/);
      row.plain = wordOf(await connected.call('look', { who: 'x' }), /look was done/);
    } catch (error) {
      row.listed = `no: ${String(error)}`;
    }
  }
  const hosts = hostClients(join(folder, 'hosts'), `${agent.url}/mcp`);
  const hostRows = hosts.map((host) => ({ host, row: newRow(host.title) }));
  for (const { host, row } of hostRows) {
    row.plain = await hostWord(host, 'look', /look was done/);
    row.listed = row.plain === 'yes' ? 'yes' : 'no';
  }
  await Promise.all([
    ...hostRows.map(async ({ host, row }) => {
      row.held = await hostHeldWords(host);
    }),
    ...[...running].map(async ([client, connected]) => {
      const row = rows.get(client);
      if (row !== undefined) row.held = await heldWords(connected, client);
    }),
    rest(undecided).then(() => agent.approveAll()),
  ]);
  await agent.stop();
  await agent.start();
  for (const [client, connected] of running) {
    const row = rows.get(client);
    if (row === undefined) continue;
    const said = wordOf(await connected.call('look', { who: 'x' }), /look was done/);
    row.restart = client.isOneCall === true ? `${said} (one process a call)` : said;
  }
  for (const connected of running.values()) connected.end();
  for (const { host, row } of hostRows) {
    row.restart = `${await hostWord(host, 'look', /look was done/)} (one process a call)`;
  }
  console.log(
    '| Client | Connects and lists | Plain call | Held call, defaults | After a restart |',
  );
  console.log('|---|---|---|---|---|');
  const all = [...rows.values(), ...hostRows.map((each) => each.row)];
  const cells = ({ listed, plain, held, restart }: Row) =>
    [listed, plain, held, restart].join(' | ');
  for (const [same, alike] of Map.groupBy(all, cells))
    console.log(`| ${alike.map(({ title }) => title).join('; ')} | ${same} |`);
} finally {
  await agent.stop();
}
const server = join(import.meta.dirname, 'mcp-clients/many-tools.mjs');
const crowded = join(folder, `crowded-${Date.now()}`);
const crowd = `mcp: {servers: [{name: many, command: node, args: [many-tools.mjs, "115"], tools: {deny: []}}]}\n`;
const many = new TriedAgent(crowded, Number(port), crowd);
copyFileSync(server, join(crowded, 'many-tools.mjs'));
await many.start();
try {
  const { tools, median } = await listTime(`${many.url}/mcp`);
  console.log(`\ntools/list of ${tools} tools: ${median.toFixed(0)} ms (median of 20)`);
} finally {
  await many.stop();
}

function newRow(title: string): Row {
  return { title, listed: 'no', plain: '', held: '', restart: '' };
}

async function hostWord(host: HostClient, tool: string, wanted: RegExp): Promise<string> {
  try {
    return wordOf({ text: (await host.call(tool)).at(-1) ?? '' }, wanted);
  } catch (error) {
    return `no: ${String(error).slice(0, 100)}`;
  }
}

/** Makes a held call by a coding agent, whose model asks for the outcome as instructed by the answer. */
async function hostHeldWords(host: HostClient): Promise<string> {
  const began = Date.now();
  const results = await host.call('pay').catch((error: unknown) => [String(error)]);
  if (results.at(-1)?.includes('pay was done') !== true) return `no: ${results.at(-1)}`;
  const seconds = Math.round((Date.now() - began) / 1_000);
  const how = results.length > 1 ? ', by `task_result`' : '';
  return `outcome after ${seconds} s${how}`;
}

/** Makes a call without a decision for longer than most clients wait, and asks for its outcome as instructed by the answer. */
async function heldWords(connected: ClientProcess, { title }: TriedClient): Promise<string> {
  const began = Date.now();
  const seconds = () => `${Math.round((Date.now() - began) / 1_000)} s`;
  const said = await connected.call('pay', { who: title });
  if (said.error !== undefined) return `gives up after ${seconds()}`;
  if (said.text?.includes('pay was done') === true) return `outcome after ${seconds()}`;
  const [, id] = /task_id\W+([0-9a-f-]{36})/.exec(said.text ?? '') ?? [];
  const answered = `answered after ${seconds()}`;
  const outcome = await connected.call('task_result', { task_id: id });
  return `${answered}, ${wordOf(outcome, /pay was done/) === 'yes' ? 'outcome by `task_result`' : 'no outcome'}`;
}

function wordOf({ text = '', error }: Said, wanted: RegExp): string {
  if (error !== undefined) return `no: ${error}`;
  return wanted.test(text) ? 'yes' : `no: ${text.slice(0, 100)}`;
}

function install(): string {
  const manifest = { private: true, type: 'module', dependencies: packages };
  if (!existsSync(join(folder, 'node_modules'))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
    const words = ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--ignore-scripts'];
    execFileSync('npm', words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return join(folder, 'node_modules');
}
