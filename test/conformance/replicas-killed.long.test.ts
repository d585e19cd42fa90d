import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Cluster } from '../../scripts/crash/cluster.ts';
import { brokenInvariants } from '../../scripts/crash/invariants.ts';
import { Load } from '../../scripts/crash/load.ts';
import { runRounds } from '../../scripts/crash/rounds.ts';
import type { Answer } from '../helpers/agent-client.ts';
import type { AgentProcess } from '../helpers/agent-process.ts';
import { patient } from '../helpers/patient.ts';
import { sharedFiguresOf } from '../helpers/shared-figures.ts';
import { reached, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 240_000 });

async function clusterOf(onRestart: 'abandon' | 'resume'): Promise<Cluster> {
  const cluster = await Cluster.start({ store: 'postgres', onRestart });
  onTestFinished(() => cluster.close());
  return cluster;
}

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const hold = [{ tool: 'hold', args: { n: 1 } }, { say: 'got {result}' }];

/** Sends a task whose tool waits at its gate, and resolves once it does; the answer comes later. */
async function atWork(
  cluster: Cluster,
  index: number,
  id: string,
): Promise<{ answer: Promise<Answer> }> {
  const answer = (cluster.at(index) as AgentProcess).send(id, hold);
  answer.catch(() => undefined);
  const folder = cluster.folders[index];
  await vi.waitFor(() => expect(folder?.held).toHaveLength(1), patient);
  return { answer };
}

const byValue = (one: number, other: number): number => one - other;

describe('a killed daemon', () => {
  it('does not end its waits: the call is decided elsewhere, and runs there once', async () => {
    const cluster = await clusterOf('abandon');
    const [a, b, c] = cluster.alive as [AgentProcess, AgentProcess, AgentProcess];
    a.send('t1', pay).catch(() => undefined);
    await reached(b, 't1', 'deferred');
    await cluster.kill(0);
    const decided = await b.decide('t1', { decision: 'approve', approver: 'ann' });
    expect(decided.status).toBe(200);
    expect(textOf({ body: await reached(c, 't1', 'completed') })).toBe('paid');
    expect(cluster.paid).toHaveLength(1);
  });

  it.each([
    ['abandon', 'interrupted by service restart'],
    ['resume', 'interrupted by service restart: hold had started and its outcome is unknown'],
  ] as const)(
    'has its work taken over within ten seconds (on_restart: %s), and no tool runs twice',
    async (onRestart, text) => {
      const cluster = await clusterOf(onRestart);
      const b = cluster.alive[1] as AgentProcess;
      await atWork(cluster, 0, 't1');
      const killedAt = Date.now();
      await cluster.kill(0);
      const task = await reached(b, 't1', 'failed');
      expect(Date.now() - killedAt).toBeLessThan(10_000);
      expect(textOf({ body: task })).toContain(text);
      expect(cluster.folders.flatMap(({ held }) => held)).toHaveLength(1);
      const measured = await Promise.all(cluster.alive.map(sharedFiguresOf));
      expect(measured.map(({ takeovers }) => takeovers).toSorted(byValue)).toEqual([0, 1]);
      expect(measured.map(({ keeper }) => keeper).toSorted(byValue)).toEqual([0, 1]);
      expect(await brokenInvariants(cluster, new Load(cluster, () => 0))).toEqual([]);
    },
  );
});

describe('an unreachable database', () => {
  it('refuses new work, keeps waiting calls, and continues when it is back', async () => {
    const cluster = await clusterOf('resume');
    const [a, b] = cluster.alive as [AgentProcess, AgentProcess];
    const working = await atWork(cluster, 0, 't1');
    const parked = b.send('t2', pay);
    await reached(b, 't2', 'deferred');
    await cluster.server?.stop('immediate');
    await vi.waitFor(async () => expect((await a.get('/readyz')).status).toBe(503), patient);
    const refused = await a.send('t3', pay);
    expect([refused.status, typeof refused.body.error]).toEqual([503, 'string']);
    await cluster.folders[0]?.openGate('7');
    await cluster.server?.start();
    expect(textOf(await working.answer)).toBe('got 7');
    await vi.waitFor(async () => expect((await b.get('/readyz')).status).toBe(200), patient);
    expect((await a.decide('t2', { decision: 'approve', approver: 'ann' })).status).toBe(200);
    expect(textOf(await parked)).toBe('paid');
    expect(await brokenInvariants(cluster, new Load(cluster, () => 0))).toEqual([]);
  });
});

it.each([
  ['agents', 'agent'],
  ['gates', 'gate'],
] as const)(
  'twenty random faults of daemons, connections and the database break no promise of %s under load',
  async (_, kind) => {
    const rounds = { store: 'postgres', onRestart: 'resume', rounds: 20, seed: 20, kind } as const;
    const { faults, broken, accepted, decisions } = await runRounds(rounds);
    expect({ faults, broken }).toEqual({ faults: 20, broken: [] });
    expect([accepted > 20, decisions > 20]).toEqual([true, true]);
  },
);
