import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isAlive } from '../../../src/actors/process/is-alive.ts';
import { readServeFile } from '../../../src/actors/process/serve-file.ts';
import { AgentClient } from '../../helpers/agent-client.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';
import { cleanUp, firstLine, holdpoint, startCommand } from '../holdpoint.ts';

afterAll(cleanUp);

const patience = { timeout: 90_000, interval: 50 };

function workspaceWith(agents: Record<string, string>): string {
  const workspace = realpathSync(temporaryFolder());
  for (const [name, service] of Object.entries(agents)) {
    mkdirSync(join(workspace, name));
    writeFileSync(join(workspace, name, 'service.yaml'), service);
    onTestFinished(() => {
      const served = readServeFile(join(workspace, name, '.service'));
      if (served !== null && isAlive(served.pid)) process.kill(served.pid, 'SIGKILL');
    });
  }
  return workspace;
}

async function openUi(workspace: string, ...flags: string[]) {
  const words = ['ui', '--dir', workspace, '--port', '0', '--no-open', '--json', ...flags];
  const started = startCommand(words);
  const { url } = JSON.parse(await firstLine(started)) as { url: string };
  const { port, hash } = new URL(url);
  const token = hash === '' ? null : hash.replace('#token=', '');
  return { ...started, url, page: new AgentClient(`http://127.0.0.1:${port}`, token) };
}

/** Whether a process accepts connections there. */
function reaches(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

describe('ui', () => {
  it('starts and stops agents as the command line does, and they outlive it', async () => {
    const workspace = workspaceWith({ till: 'agent_id: till\n' });
    const one = await openUi(workspace);
    const directory = join(workspace, 'till');
    const started = await one.page.post('/api/agents/till/start', {});
    expect([started.status, started.body]).toEqual([202, { status: 'starting' }]);
    expect((await one.page.post('/api/agents/till/start', {})).status).toBe(409);
    const agent = async (page: AgentClient) => (await page.get('/api/agents/till')).body;
    await vi.waitUntil(async () => (await agent(one.page)).status === 'running', patience);
    const { pid } = readServeFile(join(directory, '.service'))!;
    const status = await holdpoint(['serve', 'status', '--dir', directory, '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ status: 'running', pid });

    one.child.kill('SIGKILL');
    await one.ended;
    expect(isAlive(pid)).toBe(true);
    const two = await openUi(workspace);
    expect(await agent(two.page)).toMatchObject({ status: 'running', pending_deferrals: 0 });
    expect((await two.page.get('/api/health')).body).toMatchObject({ agents_running: 1 });

    await holdpoint(['serve', 'stop', '--dir', directory]);
    await vi.waitUntil(async () => (await agent(two.page)).status === 'stopped', patience);
    two.child.kill('SIGTERM');
    expect((await two.ended).signal).toBeNull();
  });

  it('shows why an agent crashed, until it is started again', async () => {
    const workspace = workspaceWith({ till: 'agent_id: till\nmodel: {name: "${MISSING_NAME}"}\n' });
    const { page } = await openUi(workspace);
    await page.post('/api/agents/till/start', {});
    const agent = async () => (await page.get('/api/agents/till')).body;
    await vi.waitUntil(async () => (await agent()).status === 'errored', patience);
    expect((await agent()).error).toContain('MISSING_NAME is not set');
    const { body } = await page.get('/api/agents/till/logs?lines=50');
    expect(body.lines.join('\n')).toContain('MISSING_NAME is not set');
    expect((await page.post('/api/agents/till/stop', {})).status).toBe(409);
  });

  it('asks for the passphrase of encrypted secrets', async () => {
    const service = 'agent_id: till\nsecrets: {providers: [encrypted-file]}\n';
    const workspace = workspaceWith({ till: service });
    const directory = join(workspace, 'till');
    const { page } = await openUi(workspace);
    const agent = async () => (await page.get('/api/agents/till')).body;
    expect(await agent()).toMatchObject({ needs_passphrase: false });
    const set = ['secret', 'set', 'SHOP_KEY', '--dir', directory, '--passphrase-stdin'];
    await holdpoint(set, { input: 'open sesame\nof-the-shop\n' });
    await page.post('/api/agents/rescan', {});
    expect(await agent()).toMatchObject({ needs_passphrase: true, status: 'stopped' });
    const refused = await page.post('/api/agents/till/start', {});
    expect([refused.status, refused.body.needs_passphrase]).toEqual([400, true]);
    const wrong = await page.post('/api/agents/till/start', { passphrase: 'CANARY-wrong' });
    expect([wrong.status, wrong.body]).toEqual([
      400,
      {
        code: 'passphrase_required',
        error: expect.stringContaining('wrong passphrase'),
        needs_passphrase: true,
      },
    ]);
    expect([JSON.stringify(wrong.body), (await agent()).status]).toEqual([
      expect.not.stringContaining('CANARY'),
      'stopped',
    ]);
    await page.post('/api/agents/till/start', { passphrase: 'open sesame' });
    await vi.waitUntil(async () => (await agent()).status === 'running', patience);
  });

  it('requires a token that only its owner can read, and that is only in the address', async () => {
    const workspace = workspaceWith({});
    const { page, url, child, ended } = await openUi(workspace);
    const path = join(workspace, '.service/ui.token');
    const token = readFileSync(path, 'utf8');
    expect(new URL(url).hash).toBe(`#token=${token}`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await page.get('/api/agents')).body).toEqual([]);
    const stranger = new AgentClient(page.url, null);
    // A tool that found the port sends no Origin.
    expect((await stranger.get('/api/agents')).status).toBe(401);
    expect((await stranger.post('/api/agents/till/restart', {})).status).toBe(401);
    child.kill('SIGKILL');
    await ended;
    const next = await openUi(workspace, '--token');
    expect(new URL(next.url).hash).toBe(`#token=${token}`);
  });

  it('refuses a token that came with the folder', async () => {
    const workspace = workspaceWith({});
    mkdirSync(join(workspace, '.service'));
    writeFileSync(join(workspace, '.service/ui.token'), 'known-to-others', { mode: 0o600 });
    const { url } = await openUi(workspace);
    expect(new URL(url).hash).toMatch(/^#token=[\w-]{43}$/);
  });

  it('accepts every caller with --no-token, and warns of it', async () => {
    const { page, url, child, ended } = await openUi(workspaceWith({}), '--no-token');
    expect(new URL(url).hash).toBe('');
    expect((await page.get('/api/agents')).status).toBe(200);
    child.kill('SIGTERM');
    expect((await ended).stderr.trim()).toBe(
      'warning: without a token every program and every user of this machine can approve calls and change agents here; leave out --no-token',
    );
  });

  it('writes its address into its folder while it runs', async () => {
    const workspace = workspaceWith({});
    const path = join(workspace, '.service/ui.json');
    const one = await openUi(workspace);
    const two = await openUi(workspace);
    const noted = () =>
      (JSON.parse(readFileSync(path, 'utf8')) as { dashboards: unknown[] }).dashboards;
    const noteOf = ({ child, url }: { child: { pid?: number | undefined }; url: string }) => ({
      ...{ pid: child.pid, port: Number(new URL(url).port), host: '127.0.0.1' },
      started: expect.any(String),
    });
    expect(noted()).toEqual([noteOf(one), noteOf(two)]);
    one.child.kill('SIGTERM');
    await one.ended;
    expect(noted()).toEqual([noteOf(two)]);
    two.child.kill('SIGTERM');
    await two.ended;
    expect(existsSync(path)).toBe(false);
  });

  it('starts an agent with its earlier flags, and at any free port by default', async () => {
    const workspace = workspaceWith({ till: 'agent_id: till\n' });
    const directory = join(workspace, 'till');
    const free = await openUi(workspace);
    const port = String(Number(new URL(free.url).port));
    free.child.kill('SIGTERM');
    await free.ended;
    const flags = ['--port', port, '--no-auth', '--rate-limit-read-rps', '7'];
    const begun = await holdpoint(['serve', 'start', '--dir', directory, ...flags]);
    expect(begun.code).toBe(0);
    const one = await openUi(workspace);
    const agent = async (page: AgentClient) => (await page.get('/api/agents/till')).body;
    const first = await agent(one.page);
    expect([first.port, first.start_flags]).toEqual([Number(port), flags]);
    await one.page.post('/api/agents/till/restart', {});
    await vi.waitUntil(
      async () => (await agent(one.page)).started_at !== first.started_at,
      patience,
    );
    await vi.waitUntil(async () => (await agent(one.page)).status === 'running', patience);
    expect((await agent(one.page)).port).toBe(Number(port));
    expect(readServeFile(join(directory, '.service'))?.flags).toEqual(flags);
    // A dashboard that never saw it run finds them as well.
    await holdpoint(['serve', 'stop', '--dir', directory]);
    one.child.kill('SIGTERM');
    await one.ended;
    const two = await openUi(workspace);
    await two.page.post('/api/agents/till/start', {});
    await vi.waitUntil(async () => (await agent(two.page)).status === 'running', patience);
    expect((await agent(two.page)).port).toBe(Number(port));
  });

  it('answers on both loopback addresses and on no other, unless a host is given (WEB-13)', async () => {
    const workspace = workspaceWith({});
    const { page } = await openUi(workspace);
    const port = Number(new URL(page.url).port);
    const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
    const outside = addresses.flatMap(({ address, internal, family }) =>
      internal || family !== 'IPv4' ? [] : [address],
    );
    // Another loopback address is refused as well, so there is one to try on a machine without a network.
    for (const host of ['127.0.0.2', ...outside]) {
      expect([host, await reaches(host, port)]).toEqual([host, false]);
    }
    expect(await reaches('127.0.0.1', port)).toBe(true);
    const hasSecond = addresses.some(({ address }) => address === '::1');
    expect(await reaches('::1', port)).toBe(hasSecond);

    const open = await openUi(workspace, '--host', '0.0.0.0');
    for (const host of ['127.0.0.1', ...outside]) {
      const url = `http://${host}:${new URL(open.url).port}`;
      expect((await new AgentClient(url, null).get('/api/agents')).status).toBe(401);
    }
    open.child.kill('SIGTERM');
    expect((await open.ended).stderr).toContain(
      'anyone who reaches 0.0.0.0 and has the token can start and stop agents',
    );
  });

  it('requires a sign-in at a public address, and prints no token there', async () => {
    const workspace = workspaceWith({});
    const at = ['--public-url', 'https://ops.example.com'];
    const without = await holdpoint(['ui', '--dir', workspace, ...at]);
    expect([without.code, without.stderr]).toEqual([
      2,
      `error: people must sign in at https://ops.example.com, and ${workspace} has no dashboard.yaml; write sign_in and operators into dashboard.yaml, as holdpoint docs dashboard#for-a-team shows\n`,
    ]);
    const open = await holdpoint([
      'ui',
      '--dir',
      workspace,
      '--public-url',
      'http://ops.example.com',
    ]);
    expect([open.code, open.stderr]).toEqual([
      2,
      'error: --public-url must be an origin such as https://ops.example.com: https, or http on a loopback host, in lower case and without a path\n',
    ]);
    writeFileSync(join(workspace, 'dashboard.yaml'), 'operators: [ann]\n');
    const wrong = await holdpoint(['ui', '--dir', workspace, ...at]);
    expect([wrong.code, wrong.stderr]).toEqual([
      5,
      expect.stringContaining('dashboard.yaml:1:13: operators.0: this must be an email'),
    ]);
    const signIn = 'sign_in: {issuer: "https://id.example.com", client_id: c}\n';
    writeFileSync(join(workspace, 'dashboard.yaml'), `${signIn}operators: [ann@example.com]\n`);
    const served = await openUi(workspace, ...at);
    const token = readFileSync(join(workspace, '.service/ui.token'), 'utf8');
    expect(served.url).not.toContain('#');
    const { page } = served;
    expect((await page.get('/api/agents')).status).toBe(401);
    const own = { authorization: `Bearer ${token}` };
    expect((await page.request('GET', '/api/agents', { headers: own })).status).toBe(200);
  });

  it('reports wrong arguments (WEB-12, WEB-13)', async () => {
    const workspace = workspaceWith({});
    const { page } = await openUi(workspace);
    const { port } = new URL(page.url);
    const taken = await holdpoint(['ui', '--dir', workspace, '--port', port, '--no-open']);
    expect(taken.code).toBe(1);
    expect(taken.stderr).toContain(`port ${port}`);
    expect(taken.stderr).toContain(`holdpoint ui --port ${Number(port) + 1}`);
    const bad = await holdpoint(['ui', '--port', 'many']);
    const words = ['ui', '--dir', workspace, '--host', '0.0.0.0', '--no-token', '--no-open'];
    const open = await holdpoint(words);
    expect([bad.code, open.code]).toEqual([2, 2]);
    expect(open.stderr).toContain('leave out --no-token');
    const nowhere = await holdpoint(['ui', '--dir', join(workspace, 'nowhere')]);
    expect(nowhere.code).toBe(3);
  });
});
