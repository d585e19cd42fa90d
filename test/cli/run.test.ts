import { EventEmitter, on, once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { readServeFile } from '../../src/actors/process/serve-file.ts';
import {
  cleanUp,
  firstLine,
  holdpoint,
  refundAgent,
  startCommand,
  startDaemon,
} from './holdpoint.ts';

afterAll(cleanUp);

const patient = { timeout: 20_000, interval: 20 };

describe.concurrent('run', () => {
  it('prints one line with the address when it is ready, and ends in 0 on SIGTERM', async () => {
    const directory = await refundAgent();
    const started = startCommand(['run', '--dir', directory, '--port', '0']);
    const line = await firstLine(started);
    const url = /^holdpoint: refunds is ready at (http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1];
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready' });
    started.child.kill('SIGTERM');
    expect(await started.ended).toMatchObject({ code: 0, signal: null });
    expect(readServeFile(join(directory, '.service'))).toBeNull();
  });

  it('prints its address as JSON, and ends in 0 on SIGINT', async () => {
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

  it('leaves at once with 130 on a second signal, and takes its tools along', async () => {
    const directory = await refundAgent(
      'agent_id: slow\nmodel: {provider: scripted, script: [{tool: linger}]}\n',
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
    );
    daemon.child.kill('SIGTERM');
    await untilDraining(daemon.url);
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 130, signal: null });
    expect((await send.ended).code).toBe(1);
    await vi.waitUntil(() => !isRunning(pid), patient);
  });

  it('ends in 5 and lists every problem of the configuration', async () => {
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
    expect(stderr).toMatch(/^warning: service\.yaml:2:1: .+\n/);
  });

  it('says that a port which was asked for is taken', async () => {
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

  it('refuses a folder that another daemon serves', async () => {
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
  ])('ends in 2 for %j', async (args, sentence) => {
    const directory = await refundAgent();
    const { code, stderr } = await holdpoint(['run', '--dir', directory, '--port', '0', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(`error: ${sentence}`);
  });

  it('streams the statecharts with --inspect', async () => {
    const daemon = await startDaemon(await refundAgent(), { args: ['--inspect', '0'] });
    const { stderr } = await daemon.stop();
    expect(stderr).toMatch(/^inspector: ws:\/\/127\.0\.0\.1:\d+/m);
  });

  it('keeps running when nobody reads its stdout any more', async () => {
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

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
