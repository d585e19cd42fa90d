import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkDaemon } from '../../src/cli/doctor/check-daemon.ts';
import { checkConnections, checkNode, checkPort } from '../../src/cli/doctor/check-machine.ts';
import { checkStateFolder } from '../../src/cli/doctor/check-state.ts';
import { cleanUp, holdpoint, refundAgent, startDaemon } from './holdpoint.ts';

afterAll(cleanUp);

interface Check {
  check: string;
  status: string;
  message: string;
  fix?: string;
}

async function examine(directory: string): Promise<{ code: number | null; checks: Check[] }> {
  const { code, stdout } = await holdpoint(['doctor', '--dir', directory, '--json']);
  return { code, checks: (JSON.parse(stdout) as { checks: Check[] }).checks };
}

function subjectOf(directory: string) {
  return { directory, stateFolder: join(directory, '.service'), env: {}, own: {} };
}

describe.concurrent('doctor', () => {
  it('accepts an agent that has never run', async () => {
    const directory = await refundAgent();
    const { code, stdout, stderr } = await holdpoint(['doctor', '--dir', directory]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const steady = stdout
      .replace(/^(pass|warn) {2}port .*\n(?: +fix: .*\n)?/m, '')
      .replace(/\d+ MiB free/, 'N MiB free')
      .replace(/up to \d+/, 'up to N')
      .replace(process.versions.node, 'N');
    expect(steady).toBe(`pass  node         Node N
pass  connections  up to N connections are served at once
pass  secrets      there are no encrypted secrets
pass  config       service.yaml and skills are valid
pass  state        ${directory} can be written, N MiB free
pass  audit        there is no audit log yet
pass  log          task store and audit log agree
pass  store        there is no task store yet
pass  permissions  files with secrets are private
pass  admission    admission is off
pass  model        the model is scripted, so no provider is asked
pass  identity     no identity provider needs to be asked
pass  slack        no chat adapter
pass  daemon       the agent is not running
`);
  });

  it('accepts a running agent', async () => {
    const daemon = await startDaemon(await refundAgent());
    const { code, checks } = await examine(daemon.directory);
    expect(code).toBe(0);
    const found = new Map(checks.map(({ check, status, message }) => [check, { status, message }]));
    expect(found.get('audit')).toEqual({
      status: 'pass',
      message: '2 events, chain intact, 2 signed',
    });
    expect(found.get('daemon')).toEqual({
      status: 'pass',
      message: `running at ${daemon.url} (process ${daemon.child.pid})`,
    });
    await daemon.stop();
  });

  it('fails for an error, states the remedy, and exits with 1', async () => {
    const daemon = await startDaemon(await refundAgent());
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    const { directory } = daemon;
    const token = join(directory, '.service', 'runtime.token');
    const log = join(directory, '.service', 'audit.ndjson');
    await chmod(token, 0o644);
    await writeFile(
      log,
      (await readFile(log, 'utf8')).replace('1.0.0', '1.0.1').replace('{', '{ '),
    );
    await writeFile(join(directory, 'service.yaml'), 'agent_id: refunds\nmodl: {}\n');
    const { code, checks } = await examine(directory);
    expect(code).toBe(1);
    const found = new Map(checks.map(({ check, ...finding }) => [check, finding]));
    expect(found.get('config')).toEqual({
      status: 'warn',
      message: expect.stringMatching(/^service\.yaml:2:1: /),
      fix: `holdpoint validate --dir ${directory}`,
    });
    expect(found.get('audit')).toEqual({
      status: 'fail',
      message: expect.stringContaining(`${log}:1`),
      fix: `holdpoint audit verify ${log}`,
    });
    expect(found.get('permissions')).toEqual({
      status: 'fail',
      message: `${token} can be read by other users`,
      fix: `chmod 600 ${token}`,
    });
    expect(found.get('daemon')).toMatchObject({ status: 'warn' });
  });

  it('fails for a Node version that is too old', () => {
    expect(checkNode('22.19.0')).toMatchObject({ status: 'fail', fix: expect.any(String) });
    expect(checkConnections(1_000)).toEqual({
      status: 'pass',
      message: 'up to 1000 connections are served at once',
    });
    expect(checkConnections(999)).toEqual({
      status: 'warn',
      message: 'up to 999 connections are served at once, since this process may open few files',
      fix: 'raise the limit before the agent starts, such as with ulimit -n 4096',
    });
    expect(checkNode('24.0.0')).toEqual({ status: 'pass', message: 'Node 24.0.0' });
  });

  it('distinguishes its own port from that of another program', async () => {
    const daemon = await startDaemon(await refundAgent());
    const ownPort = Number(new URL(daemon.url).port);
    expect(await checkPort(subjectOf(daemon.directory))).toEqual({
      status: 'pass',
      message: `port ${ownPort} serves this agent (process ${daemon.child.pid})`,
    });
    await daemon.stop();

    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    const finding = await checkPort(subjectOf(daemon.directory), port);
    holder.close();
    expect(finding).toEqual({
      status: 'pass',
      message: `port ${port} is taken; a start takes another free port`,
    });
  });

  it('fails when the folder of the store or the log is not writable', async () => {
    const directory = await refundAgent();
    const paths = ['ok/tasks.db', '/proc/audit.ndjson'].map((path) => resolve(directory, path));
    expect(await checkStateFolder(subjectOf(directory), paths)).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/^\/proc cannot be written/),
    });
  });

  it('fails when the daemon exists but does not answer', async () => {
    const daemon = await startDaemon(await refundAgent());
    const served = join(daemon.directory, '.service', 'serve.json');
    const content = JSON.parse(await readFile(served, 'utf8')) as object;
    await writeFile(served, JSON.stringify({ ...content, port: 9 }));
    expect(await checkDaemon(subjectOf(daemon.directory))).toMatchObject({ status: 'fail' });
    await daemon.stop();
  });
});
