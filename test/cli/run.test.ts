import { EventEmitter, on, once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { readServeFile } from '../../src/actors/process/serve-file.ts';
import { patient } from '../helpers/patient.ts';
import { holdpointHere } from './command-here.ts';
import {
  cleanUp,
  commandWords,
  firstLine,
  holdpoint,
  refundAgent,
  shellCommand,
  startCommand,
  startDaemon,
  startProcess,
  temporaryFolder,
} from './holdpoint.ts';
import { onTerminal, printed } from './terminal.ts';

afterAll(cleanUp);

/** A user who owns nothing. */
const nobody = 65_534;

describe.concurrent('run', () => {
  it('prints one line with the address when it is ready, and exits with 0 on SIGTERM', async () => {
    const directory = await refundAgent();
    const started = startCommand(['run', '--dir', directory, '--port', '0']);
    const line = await firstLine(started);
    const url = /^holdpoint: refunds is ready at (http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1];
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready' });
    started.child.kill('SIGTERM');
    expect(await started.ended).toMatchObject({ code: 0, signal: null });
    expect(readServeFile(join(directory, '.service'))).toBeNull();
  });

  it('keeps its compiled code for the next start, even when it is killed', async () => {
    const cache = await temporaryFolder();
    const env = { NODE_COMPILE_CACHE: cache };
    const { child, ended } = await startDaemon(await refundAgent(), { env });
    await vi.waitUntil(
      async () => (await readdir(cache, { recursive: true })).length > 100,
      patient,
    );
    child.kill('SIGKILL');
    expect(await ended).toMatchObject({ signal: 'SIGKILL' });
  });

  it('prints its address as JSON, and exits with 0 on SIGINT', async () => {
    const directory = await refundAgent();
    const started = startCommand(['run', '--dir', directory, '--port', '0', '--json']);
    const ready = JSON.parse(await firstLine(started)) as { url: string };
    const served = readServeFile(join(directory, '.service'));
    expect(ready).toEqual({
      url: `http://127.0.0.1:${served?.port}`,
      pid: started.child.pid,
      agent_id: 'refunds',
    });
    started.child.kill('SIGINT');
    expect(await started.ended).toMatchObject({ code: 0, signal: null });
  });

  it('does not count as a background process because its log is a file', async () => {
    const directory = await refundAgent();
    const file = join(await temporaryFolder(), 'agent.log');
    const { child, ended } = await startDaemon(directory, { env: { SERVICE_LOG_FILE: file } });
    expect(readServeFile(join(directory, '.service'))?.in_background).toBeUndefined();
    expect(readFileSync(file, 'utf8')).not.toBe('');
    child.kill('SIGTERM');
    await ended;
  });

  it('exits at once with 130 on a second SIGINT, and kills its tools', async () => {
    const directory = await refundAgent(
      'agent_id: slow\negress: {sandbox: env}\nmodel: {provider: scripted, script: [{tool: linger}]}\n',
    );
    await writeFile(
      join(directory, 'SKILL.md'),
      '---\nname: slow\ndescription: Lingers.\n---\n\n## Tool: linger\n\nNever ends.\n',
    );
    await mkdir(join(directory, 'scripts'), { recursive: true });
    const pidFile = join(directory, 'linger.pid');
    await writeFile(
      join(directory, 'scripts', 'linger.mjs'),
      `import { writeFileSync } from 'node:fs';
       writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
       process.on('SIGTERM', () => {});
       setInterval(() => {}, 1_000);\n`,
    );
    const daemon = await startDaemon(directory);
    const send = startCommand(['task', 'send', 'go', '--stream', '--dir', directory]);
    await textOn(send.child.stderr, 'linger starts');
    const pid = await vi.waitUntil(
      () => existsSync(pidFile) && Number(readFileSync(pidFile, 'utf8')),
      patient,
    );
    daemon.child.kill('SIGINT');
    await untilDraining(daemon.url);
    daemon.child.kill('SIGINT');
    expect(await daemon.ended).toMatchObject({ code: 130, signal: null });
    expect((await send.ended).code).toBe(1);
    await vi.waitUntil(() => !isRunning(pid), patient);
  });

  it('drains when its terminal hangs up', async () => {
    const directory = await refundAgent();
    const terminal = onTerminal(['run', '--dir', directory, '--port', '0']);
    terminal.ended.catch(() => undefined);
    await printed(terminal, 'is ready at');
    const stateFolder = join(directory, '.service');
    const pid = readServeFile(stateFolder)?.pid ?? 0;
    terminal.child.kill('SIGKILL');
    await vi.waitUntil(() => !isRunning(pid), patient);
    // Only an agent that has stopped by itself removes it.
    expect(readServeFile(stateFolder)).toBeNull();
  });

  it('exits with 5 and lists every problem of the configuration', async () => {
    const directory = await refundAgent(
      'agent_id: Not Kebab\nsecurity: {defer: {enabeld: true}}\n',
    );
    const [plain, json] = await Promise.all([
      holdpoint(['run', '--dir', directory, '--port', '0']),
      holdpoint(['run', '--dir', directory, '--port', '0', '--json']),
    ]);
    expect(plain).toMatchObject({ code: 5, stdout: '' });
    expect(plain.stderr).toMatch(
      /^service\.yaml:1:11: .+\nservice\.yaml:2:20: .+\nerror: 2 problems in the agent's files; .+\n$/,
    );
    expect(json.code).toBe(5);
    expect(JSON.parse(json.stdout)).toMatchObject({
      problems: [{ line: 1 }, { line: 2 }],
      error: { code: 'config_invalid' },
    });
  });

  it('prints warnings to stderr and starts', async () => {
    const directory = await refundAgent('agent_id: refunds\nmodl: {provider: scripted}\n');
    const daemon = await startDaemon(directory);
    const { code, stderr } = await daemon.stop();
    expect(code).toBe(0);
    const warning = stderr.split('\n').find((line) => line.includes('modl')) ?? '';
    expect(JSON.parse(warning)).toEqual({
      level: 'warn',
      time: expect.any(String),
      file: 'service.yaml',
      line: 2,
      column: 1,
      path: 'modl',
      msg: expect.stringContaining('modl'),
    });
  });

  it('writes every line of stderr as JSON where programs read it', async () => {
    const directory = await refundAgent('agent_id: refunds\nmodl: {provider: scripted}\n');
    const daemon = await startDaemon(directory);
    const { stderr } = await daemon.stop();
    for (const line of stderr.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
  });

  it('prints warnings as short lines at a terminal', async () => {
    const directory = await refundAgent('agent_id: refunds\nmodl: {provider: scripted}\n');
    const terminal = onTerminal(['run', '--dir', directory, '--port', '0']);
    await printed(terminal, /service\.yaml:2:1: warning: .*modl[^]+is ready at/);
    process.kill(readServeFile(join(directory, '.service'))?.pid ?? 0, 'SIGTERM');
    await terminal.ended;
  });

  it('refuses a device as its log before it starts', async () => {
    const directory = await refundAgent();
    const env = { SERVICE_LOG_FILE: '/dev/null' };
    const { code, stderr } = await holdpointHere(['run', '--dir', directory], { env });
    expect([code, stderr]).toEqual([
      1,
      'error: the log /dev/null is a pipe or a device; name a file, which need not exist\n',
    ]);
  });

  it('reports a taken port', async () => {
    const directory = await refundAgent();
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    const { code, stderr } = await holdpoint(['run', '--dir', directory, '--port', String(port)]);
    holder.close();
    expect(code).toBe(1);
    expect(stderr).toContain(
      `error: port ${port} on 127.0.0.1 is taken by another program; name another with --port\n`,
    );
    expect(existsSync(join(directory, '.service', 'serve.json'))).toBe(false);
  });

  it('refuses a folder that another daemon uses', async () => {
    const daemon = await startDaemon(await refundAgent());
    const second = await holdpoint(['run', '--dir', daemon.directory, '--port', '0', '--json']);
    expect(second.code).toBe(1);
    expect(JSON.parse(second.stdout)).toEqual({
      error: {
        code: 'already_running',
        message: `another daemon already serves ${join(daemon.directory, '.service')}; stop it first, or use another folder`,
        hint: null,
      },
    });
    await daemon.stop();
  });

  it.each([
    [['--no-auth', '--host', '0.0.0.0'], '--no-auth is for a loopback host'],
    [['--host', '0.0.0.0'], 'without auth.providers the agent listens on a loopback host alone'],
  ])('exits with 2 for %j', async (args, sentence) => {
    const directory = await refundAgent();
    const { code, stderr } = await holdpoint(['run', '--dir', directory, '--port', '0', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(`error: ${sentence}`);
  });

  it('names a file of another user, and its owner', async () => {
    const directory = await refundAgent();
    await mkdir(join(directory, '.service'));
    const lock = join(directory, '.service', 'daemon.lock');
    await writeFile(lock, '', { mode: 0o400 });
    const args = ['run', '--dir', directory, '--port', '0'];
    const { code, stderr } = await withoutPrivileges(args, directory, lock);
    const owner = process.getuid?.() === 0 ? 'belongs to root (0) and cannot' : 'cannot';
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`error: ${lock} ${owner} be read and written`),
    });
  });

  it('warns when its limit of open files is too low', async () => {
    const directory = await refundAgent();
    const command = shellCommand(['run', '--dir', directory, '--port', '0']);
    const limited = startProcess('prlimit', ['--nofile=200', 'sh', '-c', `exec ${command}`]);
    await firstLine(limited);
    limited.child.kill('SIGTERM');
    const { code, stderr } = await limited.ended;
    expect(code).toBe(0);
    expect(stderr).toContain('this process may open 200 files, too few for tools under load');
  });

  it('prints the path of a task for a viewer of other agents with --inspect', async () => {
    const { directory, stop } = await startDaemon(await refundAgent(), {
      args: ['--inspect', '0'],
    });
    const said = ['--script', '[{"say": "done"}]', '--id', 'r1', '--dir', directory];
    await holdpointHere(['task', 'send', 'hi', ...said]);
    const { code, stdout } = await holdpointHere(['task', 'inspect', 'r1', '--dir', directory]);
    const unknown = await holdpointHere(['task', 'inspect', 'r2', '--dir', directory]);
    await stop();
    const events = stdout.trimEnd().split('\n');
    expect([code, unknown.code]).toEqual([0, 3]);
    expect(JSON.parse(events[0] ?? '')).toMatchObject({ type: '@xstate.actor', name: 'r1' });
    expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({
      snapshot: { status: 'done', value: 'completed' },
    });
  });

  it('streams the statecharts with --inspect, and keeps the token of the stream out of its log', async () => {
    const daemon = await startDaemon(await refundAgent(), { args: ['--inspect', '0'] });
    const { stderr } = await daemon.stop();
    expect(stderr).toMatch(
      /"msg":"inspector: ws:\/\/127\.0\.0\.1:\d+\/\?token= followed by the content of \.service\/inspector\.token"/,
    );
    const kept = join(daemon.directory, '.service', 'inspector.token');
    expect(stderr).not.toContain(readFileSync(kept, 'utf8'));
  });

  it('keeps running when its stdout is closed', async () => {
    const directory = await refundAgent();
    const started = startCommand(['run', '--dir', directory, '--port', '0', '--json']);
    const { url } = JSON.parse(await firstLine(started)) as { url: string };
    started.child.stdout?.destroy();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    started.child.kill('SIGTERM');
    const [code] = (await once(started.child, 'exit')) as [number];
    expect(code).toBe(0);
    await started.ended.catch(() => undefined);
  });
});

/** Returns once a stream has carried some text. */
async function textOn(stream: Readable | null, wanted: string): Promise<void> {
  let seen = '';
  for await (const [chunk] of on(stream ?? new EventEmitter(), 'data')) {
    seen += String(chunk);
    if (seen.includes(wanted)) return;
  }
}

/** Returns once a daemon takes no new work. */
async function untilDraining(url: string): Promise<void> {
  while ((await fetch(`${url}/readyz`)).status === 200);
}

/** Runs the command as a user who may read the agent's files and owns none of them, where that is possible. */
async function withoutPrivileges(args: string[], directory: string, file: string) {
  if (process.getuid?.() !== 0) {
    await chmod(file, 0);
    return holdpoint(args);
  }
  // The state folder is theirs, and a file in it is not.
  for (const path of [directory, join(directory, '.service')]) await chown(path, nobody, nobody);
  const [program, ...rest] = commandWords(args);
  const words = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', program!, ...rest];
  return startProcess('setpriv', words).ended;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
