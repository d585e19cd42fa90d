import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { findProgram } from '../../src/actors/process/process.ts';
import { firstLine, startProcess } from '../cli/holdpoint.ts';
import { patient } from '../helpers/patient.ts';
import { root, runCommand } from '../tooling/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'image-'));
const files = join(folder, 'files');
const limit = 220_000_000;
const read = (file: string) => readFileSync(join(root, file), 'utf8');

interface Settings {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Healthcheck: { Test: string[] };
}

let settings: Settings;

beforeAll(async () => {
  const programs = ['buildah', 'mmdebstrap'];
  if (programs.some((name) => findProgram(name) === null)) {
    spawnSync('/usr/bin/apt-get', ['install', '-y', '--no-install-recommends', ...programs]);
  }
  const built = await runCommand('npm', ['run', 'image', '--', '--unpack', folder]);
  expect([built.status, built.stdout]).toEqual([0, expect.stringMatching(/: 2\d\d MB\n$/)]);
  const { Docker } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  settings = Docker.config;
}, 600_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Lists the files and folders of the image that `find` selects. */
async function found(...selection: string[]): Promise<string[]> {
  const { stdout } = await runCommand('find', [files, '-xdev', ...selection, '-printf', '/%P\n']);
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

/** A container of a pod, as far as it is started here. */
interface Container {
  command?: string[];
  args?: string[];
  volumeMounts: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[];
}

const pod = (
  parse(read('deploy/kubernetes/daemon.yaml')) as {
    spec: { template: { spec: { initContainers: [Container]; containers: [Container] } } };
  }
).spec.template.spec;

/**
 * Returns the script that starts a container as a node does: over a read-only root, with the volumes of its pod and
 * without any privilege.
 */
function startScript({ volumeMounts }: Container, volumes: string): string {
  const binds = volumeMounts.flatMap(({ name, mountPath, subPath = '', readOnly }) => [
    `mount --bind "${join(volumes, name, subPath)}" "${files}${mountPath}"`,
    ...(readOnly === true ? [`mount -o remount,ro,bind "${files}${mountPath}"`] : []),
  ]);
  const [user, group] = settings.User.split(':');
  const rights = `--reuid=${user} --regid=${group} --groups=${group} --no-new-privs`;
  return `set -eu
mount --make-rprivate /
mount --bind "${files}" "${files}"
mkdir -p "${files}/agents" "${files}/config" "${files}/folder" "${files}/state"
mount -o remount,ro,bind "${files}"
mount -t proc proc "${files}/proc"
mount --rbind /dev "${files}/dev"
${binds.join('\n')}
exec chroot "${files}" setpriv ${rights} --bounding-set=-all --inh-caps=-all env -i "$@"
`;
}

/** Makes the volumes of the pod, as the kubelet does: they belong to root, and to the group of the pod. */
async function makeVolumes(names: readonly string[]): Promise<string> {
  const volumes = mkdtempSync(join(folder, 'volumes-'));
  const paths = names.map((name) => join(volumes, name));
  for (const path of paths) mkdirSync(path);
  expect((await runCommand('chmod', ['a+rx', folder, volumes])).status).toBe(0);
  expect((await runCommand('chown', ['root:10001', ...paths])).status).toBe(0);
  expect((await runCommand('chmod', ['2777', ...paths])).status).toBe(0);
  return volumes;
}

/** Packs the agent into the volume of its ConfigMap. */
async function packAgent(volumes: string): Promise<void> {
  const code = mkdtempSync(join(folder, 'agent-'));
  mkdirSync(join(code, 'scripts'));
  writeFileSync(join(code, 'service.yaml'), agent);
  writeFileSync(join(code, 'SKILL.md'), skill);
  writeFileSync(join(code, 'scripts/pay_refund.sh'), script);
  const archive = join(volumes, 'config/agent.tar.gz');
  expect((await runCommand('tar', ['-czf', archive, '-C', code, '.'])).status).toBe(0);
}

function startContainer(container: Container, volumes: string, words: readonly string[]) {
  const { command = settings.Entrypoint, args = [] } = container;
  const secrets = ['SERVICE_TOKEN=a-token-of-the-desk', 'DASHBOARD_CLIENT_SECRET=a-secret'];
  const environment = [...settings.Env, ...secrets];
  return startProcess('unshare', [
    ...['--mount', '--pid', '--fork', 'sh', '-c', startScript(container, volumes), 'start'],
    ...[...environment, ...command, ...args, ...words],
  ]);
}

/** Starts the containers of the pod one after the other, as a node does. */
async function startPod() {
  const volumes = await makeVolumes(['config', 'agent', 'state', 'tmp']);
  await packAgent(volumes);
  const [folderOfPod] = pod.initContainers;
  expect(await startContainer(folderOfPod, volumes, []).ended).toMatchObject({
    code: 0,
    stderr: '',
  });
  const [daemon] = pod.containers;
  const run = startContainer(daemon, volumes, ['--port', '0', '--json']);
  onTestFinished(() => void run.child.kill('SIGKILL'));
  const { url } = JSON.parse(await firstLine(run)) as { url: string };
  const [init = 0] = childrenOf(run.child.pid ?? 0);
  const state = join(volumes, 'state/service');
  return { run, state, url: url.replace('0.0.0.0', '127.0.0.1'), init };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

async function asked(url: string, body?: object) {
  const headers = {
    authorization: 'Bearer a-token-of-the-desk',
    'content-type': 'application/json',
  };
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(url, { headers, ...sent });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('the image', () => {
  it('is small, and has no package manager of Node and no cache', async () => {
    const { stdout } = await runCommand('du', ['-s', '--apparent-size', '--block-size=1', files]);
    expect(Number.parseInt(stdout, 10)).toBeLessThan(limit);
    expect(await found('(', '-name', 'npm', '-o', '-name', '_cacache', ')')).toEqual([]);
    expect(readdirSync(join(files, 'var/lib/apt/lists'))).toEqual([]);
  });

  it('has no file that raises rights, and nothing that everyone may change but /tmp', async () => {
    expect(await found('-type', 'f', '-perm', '/6000')).toEqual([]);
    expect(await found('-type', 'f', '-perm', '-0002')).toEqual([]);
    const open = await found('-type', 'd', '-perm', '-0002');
    expect(open).toEqual(['/run/lock', '/tmp', '/var/tmp']);
    expect(await found('-user', '10001')).toEqual(['/agent/.service']);
  });

  it('holds a call, runs it when it is released, ends orphans, and stops at a signal', async () => {
    const { run, state, url, init } = await startPod();
    const sent = asked(`${url}/tasks/send`, {
      id: 't1',
      message: { role: 'user', parts: [{ type: 'text', text: 'pay order 7' }] },
    });
    const stateNow = async () => (await asked(`${url}/tasks/t1`)).body['status'];
    await expect.poll(stateNow, patient).toMatchObject({ state: 'deferred' });
    const decided = await asked(`${url}/tasks/t1/decisions`, {
      decision: 'approve',
      approver: 'Ann',
      approver_email: 'ann@example.com',
    });
    expect(decided.status).toBe(200);
    expect(JSON.stringify((await sent).body)).toContain('paid by 10001, Read-only file system');
    const [daemon = 0] = childrenOf(init);
    expect([readFileSync(`/proc/${init}/comm`, 'utf8'), childrenOf(init)]).toEqual([
      'tini\n',
      [daemon],
    ]);
    const [, ...health] = settings.Healthcheck.Test;
    const inside = ['--target', String(daemon), '--mount', '--pid', '--root', '--', ...health];
    expect((await runCommand('nsenter', inside)).status).toBe(0);
    process.kill(init, 'SIGTERM');
    expect(await run.ended).toMatchObject({ code: 0, signal: null });
    expect((await runCommand('find', [state, '-not', '-uid', '10001'])).stdout).toBe('');
    expect(readdirSync(state)).not.toContain('serve.json');
  });

  it('serves the dashboard in its pod, to its public host', async () => {
    const [manifest] = parseAllDocuments(read('deploy/dashboard/kubernetes/dashboard.yaml'))
      .map((one) => one.toJS())
      .filter(({ kind }) => kind === 'Deployment');
    const settingsOf = read('deploy/dashboard/dashboard.yaml');
    const volumes = await makeVolumes(['agents', 'sign-in', 'tmp']);
    writeFileSync(join(volumes, 'sign-in/dashboard.yaml'), settingsOf);
    writeFileSync(join(volumes, 'agents/dashboard.yaml'), '');
    const port = await freePort();
    const [container] = manifest.spec.template.spec.containers;
    const run = startContainer(container, volumes, ['--port', String(port)]);
    onTestFinished(() => void run.child.kill('SIGKILL'));
    expect(await firstLine(run)).toContain('https://ops.example.com');
    const headers = { host: container.readinessProbe.httpGet.httpHeaders[0].value };
    const page = request({ port, path: '/', headers }).end();
    const [response] = (await once(page, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
    const [init = 0] = childrenOf(run.child.pid ?? 0);
    process.kill(init, 'SIGTERM');
    expect(await run.ended).toMatchObject({ signal: null });
  });
});
