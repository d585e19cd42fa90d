// Tries the hooks of real coding agents against a gate: `npm run try:hosts [claude-code codex opencode copilot]`, with `--dir` to keep what is
// installed. The programs come from the npm registry, with exact versions, and speak to a model on loopback.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as rest } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { hosts, type TriedHost } from './try-hosts/hosts.ts';
import { ModelServer } from './try-hosts/model-server.ts';
import { runInShell } from './try-hosts/run-in-shell.ts';

const { values, positionals } = parseArgs({
  options: { dir: { type: 'string' } },
  allowPositionals: true,
});

const folder = values.dir ?? mkdtempSync(join(tmpdir(), 'try-hosts-'));
const command = join(import.meta.dirname, '../bin/holdpoint');
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  if (values.dir === undefined) rmSync(folder, { recursive: true, force: true });
});

/** What a person or an accident does while the call waits. */
const cases = ['approved', 'rejected', 'gate killed', 'hook killed'] as const;

for (const host of hosts) {
  if (positionals.length > 0 && !positionals.includes(host.dialect)) continue;
  install(host);
  const offered = new Set<string>();
  for (const what of cases) {
    console.log(`${host.package}, ${what}: ${await tried(host, what, offered)}`);
  }
  const added = [...offered].filter((tool) => !host.tools.includes(tool));
  console.log(`${host.package}, tools: ${[...offered].toSorted().join(' ')}`);
  if (added.length === 0) continue;
  console.log(
    `${host.package}, NEW TOOLS: ${added.join(' ')}; judge them in guard-rules.ts, and list them in hosts.ts`,
  );
  process.exitCode = 1;
}
process.exit();

function install(host: TriedHost): void {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json')))
    writeFileSync(join(folder, 'package.json'), '{"private": true}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', host.package], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Starts a gate and a host whose model wants to remove a folder, and says what came of it. */
async function tried(
  host: TriedHost,
  what: (typeof cases)[number],
  offered: Set<string>,
): Promise<string> {
  const home = mkdtempSync(join(folder, 'home-'));
  const project = join(home, 'project');
  mkdirSync(join(project, 'build'), { recursive: true });
  const gate = join(home, 'gates/guard');
  const model = await ModelServer.open(runInShell('rmdir build'));
  const env = { HOME: home, PATH: process.env['PATH'] ?? '', ...host.env(model.url) };
  host.prepare?.(home, model.url);
  try {
    const daemon = start([command, 'guard', '--dir', gate, '--root', project, '--port', '0'], {
      env,
      project,
    });
    await until(() => existsSync(join(gate, '.service/serve.json')));
    execFileSync(command, ['guard', 'install', host.dialect, '--dir', gate, '--yes'], {
      env,
      cwd: project,
      stdio: 'ignore',
    });
    const program = join(folder, 'node_modules/.bin', host.program);
    const agent = start([program, ...host.words], { env, project });
    const said = Promise.all([text(agent.stdout), text(agent.stderr)]);
    const ended = once(agent, 'close');
    const id = await Promise.race([waiting(gate, env), ended.then(() => null)]);
    if (id === null)
      return `no call waited; the host wrote: ${(await said).join(' ').trim().slice(0, 600)}`;
    const isThere = (): boolean => existsSync(join(project, 'build'));
    const before = isThere();
    if (what === 'approved') decide('approve', id, gate, env);
    if (what === 'rejected') decide('reject', id, gate, env);
    if (what === 'gate killed') daemon.kill('SIGKILL');
    if (what === 'hook killed') for (const pid of hooksOf(gate)) process.kill(pid, 'SIGKILL');
    await Promise.race([ended, rest(150_000).then(() => agent.kill('SIGKILL'))]);
    const [stdout] = await said;
    const log = readFileSync(join(gate, '.service/audit.ndjson'), 'utf8');
    const events = [...log.matchAll(/"event":"(hold_[a-z_]+)"/g)]
      .map(([, event]) => event)
      .join(' ');
    return `${before ? 'nothing ran before' : 'THE CALL RAN BEFORE'}; ${isThere() ? 'the call did not run' : 'the call ran'}; log: ${events}; model received: ${model.results.join(' ').slice(0, 300)}; host: ${stdout.trim().slice(0, 300)}`;
  } finally {
    for (const child of children) child.kill('SIGKILL');
    children.clear();
    for (const tool of model.offered) offered.add(tool);
    model.close();
  }
}

function start(
  [file = '', ...words]: readonly string[],
  { env, project }: { env: NodeJS.ProcessEnv; project: string },
) {
  const child = spawn(file, words, { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  if (file === command) for (const stream of [child.stdout, child.stderr]) stream.resume();
  return child;
}

async function waiting(gate: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  for (let tries = 0; tries < 120; tries += 1) {
    const answer = execFileSync(command, ['--json', 'task', 'deferrals', '--dir', gate], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [first] = (JSON.parse(answer) as { deferrals: { task_id: string }[] }).deferrals;
    if (first !== undefined) return first.task_id;
    await rest(500);
  }
  return null;
}

function decide(decision: string, id: string, gate: string, env: NodeJS.ProcessEnv): void {
  execFileSync(command, ['task', decision, id, '--dir', gate, '--note', 'tried'], {
    env,
    stdio: 'ignore',
  });
}

/** The hooks that ask this gate, as process ids. */
function hooksOf(gate: string): number[] {
  const list = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' });
  return list
    .split('\n')
    .filter((line) => line.includes(' hook ') && line.includes(gate) && line.includes('cli.'))
    .filter((line) => !/^\s*\d+\s+\S*sh\s/.test(line))
    .map((line) => Number.parseInt(line, 10));
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await rest(100);
}
