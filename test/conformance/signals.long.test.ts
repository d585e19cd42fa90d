import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { type AgentProcess, launchAgentProcess, runAgent } from '../helpers/agent-process.ts';
import { patient } from '../helpers/patient.ts';
import { commandFile } from '../helpers/real-command.ts';
import { deferring, expectIntact, reached, textOf } from '../helpers/test-agent.ts';
import { outwardFolder } from './egress-agent.ts';

vi.setConfig({ testTimeout: 120_000 });

const pay = [{ tool: 'pay', args: {} }, { say: 'paid' }];

/** No process receives these. */
const unheard = ['SIGKILL', 'SIGSTOP'];

/** A process that gets one of these for a reason is broken and cannot continue. */
const defects = ['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP'];

const draining = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGPWR', 'SIGXCPU'];

/** Every signal of this system once, under one of its names. */
const signals = [
  ...new Map(Object.entries(constants.signals).map(([name, number]) => [number, name])).values(),
].map((name) => ({ SIGIOT: 'SIGABRT', SIGPOLL: 'SIGIO', SIGUNUSED: 'SIGSYS' })[name] ?? name);

const harmless = signals.filter(
  (name) => ![...unheard, ...defects, ...draining].includes(name),
) as NodeJS.Signals[];

async function agentThatWaits(): Promise<{ agent: AgentProcess; held: Promise<any> }> {
  const folder = new AgentFolder(deferring({}, { on_restart: 'resume' }));
  onTestFinished(() => folder.remove());
  const agent = await runAgent(folder);
  const held = agent.send('t1', pay);
  held.catch(() => undefined);
  await reached(agent, 't1', 'deferred');
  return { agent, held };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

describe('a daemon with a waiting call', () => {
  it('continues after a signal without a meaning, logs it, and opens no debugger', async () => {
    expect(harmless).toEqual(
      expect.arrayContaining(['SIGUSR1', 'SIGUSR2', 'SIGHUP', 'SIGPIPE', 'SIGALRM', 'SIGPROF']),
    );
    const { agent, held } = await agentThatWaits();
    for (const signal of harmless) {
      agent.signal(signal);
      // A stopped one continues.
      agent.signal('SIGCONT');
      expect([signal, (await agent.get('/healthz')).status]).toEqual([signal, 200]);
    }
    for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGHUP', 'SIGALRM', 'SIGVTALRM', 'SIGABRT']) {
      await vi.waitFor(() => expect(agent.complaints).toContain(`"signal":"${signal}"`), patient);
    }
    expect(agent.complaints).not.toMatch(/debugger/i);
    expect(await isOpen(9229)).toBe(false);
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
    expect(textOf(await held)).toBe('paid');
    agent.signal('SIGTERM');
    expect(await agent.ended()).toBe(0);
    await expectIntact(agent.auditPath);
  });

  it.each(draining as NodeJS.Signals[])('drains on %s, and keeps waiting calls', async (signal) => {
    const { agent, held } = await agentThatWaits();
    agent.signal(signal);
    expect(await held).toMatchObject({ status: 503, body: { task_id: 't1' } });
    expect(await agent.ended()).toBe(0);
    const again = await runAgent(agent.folder);
    await reached(again, 't1', 'deferred');
    await expectIntact(again.auditPath);
  });

  it('is ended by the signals of a broken program like a power cut, and nothing is lost', async () => {
    const { agent } = await agentThatWaits();
    agent.signal('SIGSEGV');
    expect(await agent.ended()).toBe('SIGSEGV');
    const again = await runAgent(agent.folder);
    await reached(again, 't1', 'deferred');
    await expectIntact(again.auditPath);
  });
});

describe('a daemon that Node profiles', () => {
  it('leaves the signal to the profiler, and the profile is written at its end', async () => {
    const folder = new AgentFolder({});
    onTestFinished(() => folder.remove());
    const profiles = join(folder.path, 'profiles');
    const options = ['--cpu-prof', `--cpu-prof-dir=${profiles}`];
    const agent = await launchAgentProcess(folder, onTestFinished, [], options);
    expect((await agent.send('t1', [{ say: 'hi' }])).status).toBe(200);
    agent.signal('SIGTERM');
    expect(await agent.ended()).toBe(0);
    const [name = ''] = readdirSync(profiles);
    const { samples } = JSON.parse(readFileSync(join(profiles, name), 'utf8'));
    expect(samples.length).toBeGreaterThan(0);
    expect(agent.complaints).not.toContain('SIGPROF');
  });
});

describe('a daemon with a running tool', () => {
  const working = async () => {
    const folder = new AgentFolder(deferring({}));
    onTestFinished(() => folder.remove());
    const agent = await runAgent(folder);
    const answer = agent.send('t1', [{ tool: 'hold' }, { say: 'got {result}' }]);
    answer.catch(() => undefined);
    await vi.waitFor(() => expect(folder.held).toHaveLength(1), 20_000);
    return { agent, folder, answer };
  };
  const drainingNow = (agent: AgentProcess) =>
    vi.waitFor(async () => expect((await agent.get('/readyz')).status).toBe(503), 10_000);

  it('drains to the end however often SIGTERM arrives', async () => {
    const { agent, folder, answer } = await working();
    agent.signal('SIGTERM');
    await drainingNow(agent);
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGTERM'] as const) {
      agent.signal(signal);
      expect((await agent.get('/healthz')).status).toBe(200);
    }
    await folder.openGate('it');
    expect(textOf(await answer)).toBe('got it');
    expect(await agent.ended()).toBe(0);
  });

  it('exits at once with 130 on a second SIGINT', async () => {
    const { agent } = await working();
    agent.signal('SIGINT');
    await drainingNow(agent);
    agent.signal('SIGINT');
    expect(await agent.ended()).toBe(130);
  });
});

describe('a script', () => {
  it('opens no debugger in the daemon that runs it', async () => {
    const folder = outwardFolder(
      {},
      {
        'attack.sh': `daemon=$PPID
for i in 1 2 3; do kill -USR1 "$daemon"; sleep 0.3; done
(exec 3<>/dev/tcp/127.0.0.1/9229) 2>/dev/null && echo "a debugger listens" || echo "nobody listens"
tr '\\0' ' ' < "/proc/$daemon/cmdline" | grep -q '${commandFile()}' && echo "it was the daemon"
`,
      },
    );
    const agent = await runAgent(folder);
    const answer = await agent.send('t1', [{ tool: 'attack' }, { say: '{result}' }]);
    expect(textOf(answer)).toBe('nobody listens\nit was the daemon');
    expect((await agent.get('/healthz')).status).toBe(200);
    await vi.waitFor(() => expect(agent.complaints).toContain('"signal":"SIGUSR1"'), patient);
    expect(agent.complaints).not.toMatch(/debugger/i);
  });
});
