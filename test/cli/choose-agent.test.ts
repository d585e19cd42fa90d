import { linkSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { agentProof } from '../../src/actors/agent-proof.ts';
import { listAgent } from '../../src/actors/process/agent-list.ts';
import { readServeFile, writeServeFile } from '../../src/actors/process/serve-file.ts';
import { holdpointHere } from './command-here.ts';
import {
  cleanUp,
  type Daemon,
  holdpoint,
  refundAgent,
  startCommand,
  startDaemon,
  temporaryFolder,
  untilHeld,
} from './holdpoint.ts';

afterAll(cleanUp);

const guarded = `agent_id: refunds
auth:
  required: true
  providers: [{type: static_token, name: ops, settings: {token: ops-secret}}]
`;

/** A list of its own, and a daemon on it. */
async function listedDaemon(service?: string): Promise<{ daemon: Daemon; env: Variables }> {
  const env = { XDG_STATE_HOME: await temporaryFolder() };
  const daemon = await startDaemon(await refundAgent(service), { env });
  return { daemon, env };
}

interface Variables extends Record<string, string> {
  XDG_STATE_HOME: string;
}

describe.concurrent('a command without --dir', () => {
  let one: Awaited<ReturnType<typeof listedDaemon>>;
  beforeAll(async () => {
    one = await listedDaemon();
  });

  it('uses the only running agent, from any folder, and names it', async () => {
    const { daemon, env } = one;
    const send = ['task', 'send', '--id', 'r1', 'Refund A-1042, it arrived broken'];
    const sent = startCommand(send, { env });
    await untilHeld(daemon, 'r1');
    const get = await holdpointHere(['task', 'get', 'r1'], { env });
    expect(get.stdout).toMatch(/^r1 {2}deferred/);
    expect(get.stderr).toBe(
      `the agent is refunds in ${daemon.directory}\ndecide with: holdpoint task approve r1, or reject\n`,
    );
    const approve = ['task', 'approve', 'r1', '--email', 'ann@example.com', '--json'];
    const { code, stdout } = await holdpointHere(approve, { env });
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({
      code: 0,
      decision: 'approve',
    });
    expect((await sent.ended).code).toBe(0);
    const tail = await holdpointHere(['audit', 'tail', '--task', 'r1'], { env });
    expect(tail.stdout).toContain('task_deferred');
    const watch = await holdpointHere(['task', 'watch', 'r1'], { env });
    expect(watch.stderr).toBe(`the agent is refunds in ${daemon.directory}\n`);
    const [keys, exported] = await Promise.all([
      holdpointHere(['audit', 'keys'], { env }),
      holdpointHere(['audit', 'export', '--task', 'r1'], { env }),
    ]);
    expect([keys.code, exported.code]).toEqual([0, 0]);
  });

  it('uses the agent of the current folder, also a stopped one', async () => {
    const cwd = await refundAgent();
    const [list, tail] = await Promise.all([
      holdpoint(['task', 'list'], { env: one.env, cwd }),
      holdpoint(['audit', 'tail'], { env: one.env, cwd }),
    ]);
    expect(list).toMatchObject({ code: 3, stdout: '' });
    expect(list.stderr).toBe(
      `error: no agent runs in ${cwd}; start it with: holdpoint run --dir .\n`,
    );
    expect(tail).toMatchObject({ code: 3, stdout: '' });
  });

  it('exits with 3 and states the remedy when no agent runs', async () => {
    const env = { XDG_STATE_HOME: await temporaryFolder() };
    const commands = [
      ['task', 'list'],
      ['task', 'get', 'r1'],
      ['audit', 'tail'],
      ['audit', 'keys'],
    ];
    const ended = await Promise.all(
      commands.map((words) => holdpointHere([...words, '--json'], { env })),
    );
    const error = {
      code: 'not_running',
      message: 'no agent runs here, nor elsewhere as this user',
      hint: 'start one with: holdpoint run --dir DIR, or name one with --dir or --url',
    };
    for (const { code, stdout } of ended) {
      expect({ code, ...(JSON.parse(stdout) as object) }).toEqual({ code: 3, error });
    }
  });

  it('lists the agents when several run', async () => {
    const { daemon: first, env } = await listedDaemon();
    const second = await startDaemon(await refundAgent('agent_id: other\n'), { env });
    const [words, json] = await Promise.all([
      holdpointHere(['task', 'list'], { env }),
      holdpointHere(['task', 'list', '--json'], { env }),
    ]);
    const agents = [
      { agent_id: 'refunds', url: first.url, directory: first.directory },
      { agent_id: 'other', url: second.url, directory: second.directory },
    ].toSorted((a, b) => a.directory.localeCompare(b.directory));
    const [{ directory } = { directory: '' }] = agents;
    expect(words.code).toBe(2);
    expect(words.stderr).toBe(
      `${agents.map((agent) => `  ${agent.agent_id}  ${agent.url}  ${agent.directory}\n`).join('')}error: 2 agents run as this user; name one with --dir, such as --dir ${directory}\n`,
    );
    expect(JSON.parse(json.stdout)).toMatchObject({ agents, error: { code: 'several_agents' } });
    await first.stop();
    expect((await holdpointHere(['task', 'list'], { env })).code).toBe(0);
    second.child.kill('SIGKILL');
    await second.ended;
    expect((await holdpointHere(['task', 'list'], { env })).code).toBe(3);
    expect(readdirSync(join(env.XDG_STATE_HOME, 'holdpoint', 'agents'))).toEqual([]);
  });

  it('names the agent that uses a requested port', async () => {
    const { daemon, env } = one;
    const { port } = new URL(daemon.url);
    const { code, stderr } = await holdpoint(
      ['run', '--dir', await refundAgent(), '--port', port],
      { env },
    );
    expect(code).toBe(1);
    expect(stderr).toContain(
      `error: port ${port} on 127.0.0.1 is taken by the agent refunds in ${daemon.directory} (process ${daemon.child.pid}); name another with --port\n`,
    );
  });

  it('does not trust a list that others may write', async () => {
    const env = { XDG_STATE_HOME: await temporaryFolder() };
    const folder = join(env.XDG_STATE_HOME, 'holdpoint', 'agents');
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o777);
    const { code, stderr } = await holdpointHere(['task', 'list'], { env });
    expect(code).toBe(1);
    expect(stderr).toContain(`error: the list of running agents is not trusted: others may write`);
  });
});

describe('a planted agent on the list', () => {
  /** A listener that proves to be the agent of its own folder, and records what it receives. */
  async function planted(
    tokenPath: string,
  ): Promise<{ heard: string[]; env: Variables; directory: string }> {
    const heard: string[] = [];
    const directory = await temporaryFolder();
    const key = 'k';
    const server = createServer((request, response) => {
      heard.push(String(request.headers.authorization ?? ''));
      const challenge = String(request.headers['x-service-challenge'] ?? '');
      const { port } = server.address() as AddressInfo;
      response.setHeader('x-service-proof', agentProof(key, challenge, port));
      response.end('{"tasks": []}');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    mkdirSync(join(directory, '.service'));
    writeServeFile(join(directory, '.service'), {
      ...{ pid: process.pid, port, host: '127.0.0.1', auth_enabled: true },
      ...{ token_path: tokenPath, started_at: '', version: '', proof_key: key },
    });
    const env = { XDG_STATE_HOME: await temporaryFolder() };
    listAgent({ agentId: 'refunds', directory, url: `http://127.0.0.1:${port}` }, env);
    return { heard, env, directory };
  }

  it('never receives the token of the caller', async () => {
    const { heard, env, directory } = await planted('/nowhere');
    const tokenFile = join(await temporaryFolder(), 'mine');
    await writeFile(tokenFile, 'of-a-person\n');
    const ended = await Promise.all([
      holdpointHere(['task', 'list'], { env: { ...env, SERVICE_TOKEN: 'of-a-person' } }),
      holdpointHere(['task', 'list', '--token-file', tokenFile], { env }),
    ]);
    expect(ended.map(({ code }) => code)).toEqual([2, 2]);
    expect(ended[0]?.stderr).toContain(
      `error: the token of SERVICE_TOKEN is shown to an agent that you name alone; name it with --dir ${directory}\n`,
    );
    expect(heard).toEqual([]);
  });

  it('never receives the token of another agent, for any content of its files', async () => {
    const { daemon } = await listedDaemon(guarded);
    const real = join(daemon.directory, '.service', 'runtime.token');
    const { heard, env, directory } = await planted(real);
    const own = join(directory, '.service', 'runtime.token');
    const pointing = await holdpointHere(['task', 'list'], { env });
    symlinkSync(real, own);
    const linked = await holdpointHere(['task', 'list'], { env });
    await rm(own);
    linkSync(real, own);
    const same = await holdpointHere(['task', 'list'], { env });
    expect([pointing.code, linked.code, same.code]).toEqual([4, 4, 4]);
    expect(heard).toEqual([]);
    await daemon.stop();
  });

  it('receives nothing unless it proves that it has the key of its folder', async () => {
    const { heard, env, directory } = await planted('/nowhere');
    const service = join(directory, '.service');
    await writeFile(join(service, 'runtime.token'), 'its-own', { mode: 0o600 });
    const served = readServeFile(service)!;
    expect((await holdpointHere(['task', 'list'], { env })).code).toBe(0);
    expect(heard.splice(0)).toEqual(['', 'Bearer its-own']);
    writeServeFile(service, { ...served, proof_key: 'another' });
    const { code, stderr } = await holdpointHere(['task', 'list'], { env });
    expect(code).toBe(3);
    expect(stderr).toContain('is not the agent of this folder; nothing was sent');
    expect(heard).toEqual(['']);
  });
});

describe('a daemon that cannot be listed', () => {
  it.each([
    ['its home folder is a file', async () => ({ XDG_STATE_HOME: '/dev/null' })],
    ['its folder cannot be created', async () => ({ XDG_STATE_HOME: '', HOME: '/proc' })],
  ])('runs and reports it once: %s', async (_, variables) => {
    const daemon = await startDaemon(await refundAgent(), { env: await variables() });
    expect((await holdpointHere(['task', 'list', '--dir', daemon.directory])).code).toBe(0);
    const { code, stderr } = await daemon.stop();
    expect(code).toBe(0);
    const lines = stderr.split('\n').filter((line) => line.includes('--dir alone'));
    expect(lines).toHaveLength(1);
  });
});
