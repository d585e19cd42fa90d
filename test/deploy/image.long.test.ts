import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../bench/peers/free-port.ts';
import { findProgram } from '../../src/actors/process/process.ts';
import { firstLine } from '../cli/holdpoint.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { root, runCommand } from '../tooling/run-command.ts';
import { childrenOf, podIn, UnpackedImage } from './unpacked-image.ts';

const folder = mkdtempSync(join(tmpdir(), 'image-'));
const limit = 220_000_000;

let image: UnpackedImage;

beforeAll(async () => {
  const programs = ['buildah', 'mmdebstrap'];
  if (programs.some((name) => findProgram(name) === null)) {
    spawnSync('/usr/bin/apt-get', ['install', '-y', '--no-install-recommends', ...programs]);
  }
  const built = await runCommand('npm', ['run', 'image', '--', '--unpack', folder]);
  expect([built.status, built.stdout]).toEqual([0, expect.stringMatching(/: 2\d\d MB\n$/)]);
  image = new UnpackedImage(folder);
}, 600_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Lists the files and folders of the image that `find` selects. */
async function found(...selection: string[]): Promise<string[]> {
  const { stdout } = await runCommand('find', [
    image.files,
    '-xdev',
    ...selection,
    '-printf',
    '/%P\n',
  ]);
  return stdout.split('\n').filter(Boolean).toSorted();
}

const agent = `agent_id: refunds
description: Pays refunds
model: {provider: scripted, script: [{tool: pay_refund, args: {order: "7"}}, {say: "{result}"}]}
auth:
  required: true
  providers:
    - type: static_token
      name: desk
      settings: {token_env: SERVICE_TOKEN, identity: {user_id: desk, email: ann@example.com}}
security:
  defer:
    enabled: true
    default_approvers: [ann@example.com]
    tools: {pay_refund: {to: "channel:console:*", timeout: 5m}}
`;

const skill = `---
name: refunds
description: Pays refunds.
---

## Tool: pay_refund

Pays.

**Input:** order (string)
`;

/** Leaves an orphan, and says who it is and whether it can change its own code. */
const script = `exec 2>&1
(sh -c 'exit 0' &)
echo "paid by $(id -u), $(touch "$SERVICE_AGENT_DIR/scripts/x" 2>&1 | grep -o 'Read-only file system')"
`;

const code = { 'service.yaml': agent, 'SKILL.md': skill, 'scripts/pay_refund.sh': script };

async function asked(url: string, body?: object) {
  const headers = {
    authorization: 'Bearer a-token-of-the-desk',
    'content-type': 'application/json',
  };
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(url, { headers, ...sent });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const token = 'SERVICE_TOKEN=a-token-of-the-desk';

/** Sends the message whose call waits, and resolves once it does. */
async function sendHeld(url: string) {
  const message = { role: 'user', parts: [{ type: 'text', text: 'pay order 7' }] };
  const answer = asked(`${url}/tasks/send`, { id: 't1', message });
  await expect.poll(() => statusAt(url), patient).toMatchObject({ state: 'deferred' });
  return { answer };
}

async function statusAt(url: string): Promise<unknown> {
  return (await asked(`${url}/tasks/t1`)).body['status'];
}

async function approve(url: string): Promise<number> {
  const decision = { decision: 'approve', approver: 'Ann', approver_email: 'ann@example.com' };
  return (await asked(`${url}/tasks/t1/decisions`, decision)).status;
}

describe('the image', () => {
  it('is small, and has no package manager of Node and no cache', async () => {
    const { stdout } = await runCommand('du', [
      '-s',
      '--apparent-size',
      '--block-size=1',
      image.files,
    ]);
    expect(Number.parseInt(stdout, 10)).toBeLessThan(limit);
    expect(await found('(', '-name', 'npm', '-o', '-name', '_cacache', ')')).toEqual([]);
    expect(readdirSync(join(image.files, 'var/lib/apt/lists'))).toEqual([]);
  });

  it('has no setuid file, and only /tmp is writable for all', async () => {
    expect(await found('-type', 'f', '-perm', '/6000')).toEqual([]);
    expect(await found('-type', 'f', '-perm', '-0002')).toEqual([]);
    const open = await found('-type', 'd', '-perm', '-0002');
    expect(open).toEqual(['/run/lock', '/tmp', '/var/tmp']);
    expect(await found('-user', '10001')).toEqual(['/agent/.service']);
  });

  it('holds a call, runs it after its release, reaps orphans, and stops at a signal', async () => {
    const { run, state, url, init } = await image.startAgent(code, [token]);
    const { answer } = await sendHeld(url);
    expect(await approve(url)).toBe(200);
    expect(JSON.stringify((await answer).body)).toContain('paid by 10001, Read-only file system');
    const [daemon = 0] = childrenOf(init);
    expect([readFileSync(`/proc/${init}/comm`, 'utf8'), childrenOf(init)]).toEqual([
      'tini\n',
      [daemon],
    ]);
    const [, ...health] = image.settings.Healthcheck.Test;
    const inside = ['--target', String(daemon), '--mount', '--pid', '--root', '--', ...health];
    expect((await runCommand('nsenter', inside)).status).toBe(0);
    process.kill(init, 'SIGTERM');
    expect(await run.ended).toMatchObject({ code: 0, signal: null });
    expect((await runCommand('find', [state, '-not', '-uid', '10001'])).stdout).toBe('');
    expect(readdirSync(state)).not.toContain('serve.json');
  });

  it('replaces a daemon over one PostgreSQL: its waiting call continues in the new pod', async () => {
    const server = await PostgresServer.start();
    onTestFinished(() => server.remove());
    const url = server.url(await server.createDatabase());
    const env = [token, `SERVICE_DATABASE_URL=${url}`];
    const store = 'store: {kind: postgres, pool: 3}\n';
    const shared = {
      ...code,
      'service.yaml': agent.replace('defer:\n', 'defer:\n    on_restart: resume\n') + store,
    };
    const migration = podIn('deploy/kubernetes/migrate.yaml');
    const volumes = await image.makeVolumes('config', 'agent', 'state', 'tmp');
    await image.packFolder(shared, volumes);
    for (const container of [migration.initContainers[0], migration.containers[0]]) {
      const { ended } = image.startContainer(container, { volumes, env });
      expect(await ended).toMatchObject({ code: 0 });
    }
    const old = await image.startAgent(shared, env);
    const { answer } = await sendHeld(old.url);
    const next = await image.startAgent(shared, env);
    process.kill(old.init, 'SIGTERM');
    expect((await answer).status).toBe(503);
    expect(await old.run.ended).toMatchObject({ code: 0 });
    expect(await approve(next.url)).toBe(200);
    await expect.poll(() => statusAt(next.url), patient).toMatchObject({ state: 'completed' });
  });

  it('serves the dashboard in its pod, to its public host', async () => {
    const [container] = podIn('deploy/dashboard/kubernetes/dashboard.yaml').containers;
    const volumes = await image.makeVolumes('agents', 'sign-in', 'tmp');
    const signIn = readFileSync(join(root, 'deploy/dashboard/dashboard.yaml'));
    writeFileSync(join(volumes, 'sign-in/dashboard.yaml'), signIn);
    writeFileSync(join(volumes, 'agents/dashboard.yaml'), '');
    const port = await freePort();
    const words = ['--port', String(port)];
    const env = ['DASHBOARD_CLIENT_SECRET=a-secret'];
    const run = image.startContainer(container, { volumes, words, env });
    expect(await firstLine(run)).toContain('https://ops.example.com');
    const headers = { host: container.readinessProbe.httpGet.httpHeaders[0]?.value };
    const page = request({ port, path: '/', headers }).end();
    const [response] = (await once(page, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
    const [init = 0] = childrenOf(run.child.pid ?? 0);
    process.kill(init, 'SIGTERM');
    expect(await run.ended).toMatchObject({ signal: null });
  });
});
