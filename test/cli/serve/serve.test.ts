import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isAlive } from '../../../src/actors/process/is-alive.ts';
import { readServeFile, writeServeFile } from '../../../src/actors/process/serve-file.ts';
import { AgentClient } from '../../helpers/agent-client.ts';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { deferring } from '../../helpers/test-agent.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';
import { cleanUp, type Ended, holdpoint, startCommand } from '../holdpoint.ts';

const patience = { timeout: 60_000, interval: 50 };

/** A folder with an agent in it; what still serves it after the test is killed. */
function agentFolder(service = 'agent_id: till\n'): string {
  const directory = temporaryFolder();
  writeFileSync(join(directory, 'service.yaml'), service);
  onTestFinished(() => {
    const served = readServeFile(join(directory, '.service'));
    if (served !== null && isAlive(served.pid)) process.kill(served.pid, 'SIGKILL');
  });
  return directory;
}

/** An agent whose calls of `pay` are held, and a caller of it. */
function heldAgent() {
  const folder = new AgentFolder({ agent_id: 'till', ...deferring() }, temporaryFolder());
  onTestFinished(() => {
    const found = readServeFile(join(folder.path, '.service'));
    if (found !== null && isAlive(found.pid)) process.kill(found.pid, 'SIGKILL');
  });
  const client = () => new AgentClient(`http://127.0.0.1:${served(folder.path).port}`, null);
  return { folder, client };
}

function serve(word: string, directory: string, ...more: string[]): Promise<Ended> {
  return holdpoint(['serve', word, '--dir', directory, ...more]);
}

function served(directory: string) {
  const found = readServeFile(join(directory, '.service'));
  if (found === null) throw new Error('there is no serve.json');
  return found;
}

afterAll(cleanUp);

describe('serve', () => {
  it('runs an agent in the background, once, until it is stopped', async () => {
    const directory = agentFolder();
    const started = await serve('start', directory, '--port', '0', '--json');
    const { pid, port } = served(directory);
    const url = `http://127.0.0.1:${port}`;
    const log = join(directory, '.service/serve.log');
    expect(started.code).toBe(0);
    expect(JSON.parse(started.stdout)).toEqual({ status: 'running', url, pid, directory, log });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(statSync(log).mode & 0o777).toBe(0o600);

    const again = await serve('start', directory);
    expect([again.code, again.stdout]).toEqual([1, '']);
    expect(again.stderr).toBe(
      `error: the agent runs already (process ${pid}); look at it with: holdpoint serve status --dir ${directory}\n`,
    );
    const status = await serve('status', directory, '--json');
    expect(JSON.parse(status.stdout)).toMatchObject({ status: 'running', url, pid });
    expect((await serve('logs', directory)).stdout).toContain(`till is ready at ${url}\n`);

    const stopped = await serve('stop', directory, '--json');
    expect(JSON.parse(stopped.stdout)).toEqual({ status: 'stopped', pid, killed: false });
    await vi.waitUntil(() => !isAlive(pid), patience);
    expect(existsSync(join(directory, '.service/serve.json'))).toBe(false);
    const gone = await serve('stop', directory);
    expect([gone.code, gone.stderr]).toEqual([
      3,
      `error: no agent runs in ${directory}; start it with: holdpoint serve start --dir ${directory}\n`,
    ]);
  });

  it('reports after a stop the outcome of waiting calls', async () => {
    const { folder, client } = heldAgent();
    await serve('start', folder.path, '--port', '0');
    const sent = client().send('t1', [{ tool: 'pay', args: { amount: 5 } }]);
    sent.catch(() => undefined);
    await vi.waitUntil(async () => (await client().get('/deferrals')).body.total === 1, patience);
    const { pid } = served(folder.path);
    const stopped = await serve('stop', folder.path);
    expect(stopped.stdout).toBe(
      `the agent (process ${pid}) has stopped\n1 call was waiting for approval; it is denied when till starts again (on_restart: abandon)\n`,
    );
  });

  it('follows the log of an agent over its stop, its next start and a rotation, until Ctrl-C', async () => {
    const directory = agentFolder();
    const log = join(directory, '.service/serve.log');
    await serve('start', directory, '--port', '0');
    const first = served(directory);
    const following = startCommand(['serve', 'logs', '--follow', '--dir', directory]);
    let [said, noted] = ['', ''];
    following.child.stdout!.on('data', (chunk: Buffer) => (said += chunk.toString()));
    following.child.stderr!.on('data', (chunk: Buffer) => (noted += chunk.toString()));
    await vi.waitUntil(() => said.includes(`http://127.0.0.1:${first.port}\n`), patience);

    await serve('stop', directory);
    await vi.waitUntil(() => noted.includes('the agent does not run'), patience);
    expect(following.child.exitCode).toBeNull();

    renameSync(log, `${log}.1`);
    await serve('start', directory, '--port', '0');
    const second = served(directory);
    await vi.waitUntil(() => said.includes(`http://127.0.0.1:${second.port}\n`), patience);
    await vi.waitUntil(() => noted.includes(`the agent runs (process ${second.pid})`), patience);

    following.child.kill('SIGINT');
    const { code, stdout } = await following.ended;
    expect(code).toBe(130);
    expect(stdout).toBe([`${log}.1`, log].map((path) => readFileSync(path, 'utf8')).join(''));
    await serve('stop', directory);
  });

  it('reports why an agent did not start, then and later, until it starts', async () => {
    const directory = agentFolder('agent_id: till\nmodel: {provider: nobody}\n');
    const failed = await serve('start', directory, '--port', '0');
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain('service.yaml:2:');
    expect(failed.stderr).toContain("error: 1 problem in the agent's files");
    const status = await serve('status', directory, '--json');
    expect(status.code).toBe(3);
    const told = JSON.parse(status.stdout) as { status: string; last_error: string };
    expect(told.status).toBe('errored');
    expect(told.last_error).toContain('service.yaml:2:');
    expect(statSync(join(directory, '.service/serve.error.json')).mode & 0o777).toBe(0o600);

    writeFileSync(join(directory, 'service.yaml'), 'agent_id: till\n');
    expect((await serve('start', directory, '--port', '0')).code).toBe(0);
    expect(existsSync(join(directory, '.service/serve.error.json'))).toBe(false);
    await serve('stop', directory);
  });

  it('removes the file of a killed agent, and reports its exit until it is started again', async () => {
    const directory = agentFolder();
    await serve('start', directory, '--port', '0');
    const { pid } = served(directory);
    process.kill(pid, 'SIGKILL');
    await vi.waitUntil(() => !isAlive(pid), patience);
    const status = await serve('status', directory, '--json');
    expect([status.code, JSON.parse(status.stdout)]).toMatchObject([
      3,
      {
        status: 'errored',
        last_error: expect.stringMatching(/^the process ended without a word: /),
      },
    ]);
    expect(existsSync(join(directory, '.service/serve.json'))).toBe(false);
    await serve('start', directory, '--port', '0');
    await serve('stop', directory);
    const stopped = await serve('status', directory, '--json');
    expect(JSON.parse(stopped.stdout)).toMatchObject({ status: 'stopped' });
  });

  it('never kills another process, for any content of serve.json (WEB-10)', async () => {
    const bystander = spawn('sleep', ['600']);
    onTestFinished(() => void bystander.kill('SIGKILL'));
    const directory = agentFolder();
    mkdirSync(join(directory, '.service'));
    writeFileSync(join(directory, '.service/daemon.lock'), '');
    writeServeFile(join(directory, '.service'), {
      ...{ pid: bystander.pid!, port: 9, host: '127.0.0.1', auth_enabled: false, token_path: '' },
      ...{ started_at: new Date().toISOString(), version: '0', proof_key: 'forged' },
    });
    const stopped = await serve('stop', directory);
    expect(stopped.code).toBe(3);
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    expect(isAlive(bystander.pid!)).toBe(true);
    expect(existsSync(join(directory, '.service/serve.json'))).toBe(false);
  });

  it('opens encrypted secrets with a passphrase that no list of processes shows', async () => {
    const directory = agentFolder('agent_id: till\nsecrets: {providers: [encrypted-file]}\n');
    const passphrase = 'open sesame, please';
    const set = ['secret', 'set', 'SHOP_KEY', '--dir', directory, '--passphrase-stdin'];
    const kept = await holdpoint(set, { input: `${passphrase}\nof-the-shop\n` });
    expect(kept.code).toBe(0);
    const without = await serve('start', directory, '--port', '0');
    expect([without.code, without.stderr]).toEqual([
      4,
      'error: the secrets of the agent need their passphrase; give it with --passphrase-stdin or SERVICE_PASSPHRASE\n',
    ]);
    const start = ['serve', 'start', '--dir', directory, '--port', '0', '--passphrase-stdin'];
    const wrong = await holdpoint(start, { input: 'guessed\n' });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('passphrase');
    const right = await holdpoint(start, { input: `${passphrase}\n` });
    expect(right.code).toBe(0);
    const { pid } = served(directory);
    const shown = ['cmdline', 'environ'].map((name) =>
      readFileSync(`/proc/${pid}/${name}`, 'utf8'),
    );
    expect(shown.join('')).not.toContain(passphrase);
    expect(readFileSync(join(directory, '.service/serve.log'), 'utf8')).not.toContain(passphrase);
    await serve('stop', directory);
  });

  it('refuses a folder without an agent, and writes nothing there', async () => {
    const directory = temporaryFolder();
    const ended = await serve('start', directory);
    expect([ended.code, ended.stderr]).toEqual([
      3,
      `error: there is no service.yaml in ${directory}; make an agent with: holdpoint init, or name its folder with --dir\n`,
    ]);
    expect(existsSync(join(directory, '.service'))).toBe(false);
    expect((await serve('logs', directory)).code).toBe(3);
    expect((await serve('logs', directory, '--follow')).code).toBe(3);
  });
});
