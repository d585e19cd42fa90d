import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findProgram } from '../../src/actors/process/process.ts';
import { firstLine, startProcess } from '../cli/holdpoint.ts';
import { patient } from '../helpers/patient.ts';
import { runCommand } from '../tooling/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'image-'));
const files = join(folder, 'files');
const limit = 220_000_000;

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

/** Enters the files of the image as a container without privileges does: read-only but for the state and /tmp. */
const enter = `set -eu
mount --make-rprivate /
mount --bind "$1" "$1"
mount -o remount,ro,bind "$1"
mount -t proc proc "$1/proc"
mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
mount --rbind /dev "$1/dev"
mount --bind "$2" "$1/agent"
mount -o remount,ro,bind "$1/agent"
mount --bind "$3" "$1/agent/.service"
user=$4
root=$1
shift 4
exec chroot "$root" setpriv --reuid="\${user%:*}" --regid="\${user#*:}" --clear-groups --no-new-privs \\
  --bounding-set=-all --inh-caps=-all env -i "$@"
`;

/** Starts the image's entrypoint with these words over the agent. */
async function startImage() {
  const [code, state] = [mkdtempSync(join(folder, 'agent-')), mkdtempSync(join(folder, 'state-'))];
  mkdirSync(join(code, 'scripts'));
  mkdirSync(join(code, '.service'));
  writeFileSync(join(code, 'service.yaml'), agent);
  writeFileSync(join(code, 'SKILL.md'), skill);
  writeFileSync(join(code, 'scripts/pay_refund.sh'), script);
  const { User, Env, Entrypoint } = settings;
  const owned = ['-R', User, state];
  expect((await runCommand('chown', owned)).status).toBe(0);
  expect((await runCommand('chmod', ['-R', 'a+rX', folder, code])).status).toBe(0);
  const words = ['run', '--dir', '/agent', '--host', '0.0.0.0', '--port', '0', '--json'];
  const environment = [...Env, 'SERVICE_TOKEN=a-token-of-the-desk'];
  const run = startProcess('unshare', [
    ...['--mount', '--pid', '--fork', 'sh', '-c', enter, 'enter', files, code, state, User],
    ...[...environment, ...Entrypoint, ...words],
  ]);
  onTestFinished(() => void run.child.kill('SIGKILL'));
  const { url } = JSON.parse(await firstLine(run)) as { url: string };
  const [init = 0] = childrenOf(run.child.pid ?? 0);
  return { run, state, url: url.replace('0.0.0.0', '127.0.0.1'), init };
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
    const { run, state, url, init } = await startImage();
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
});
