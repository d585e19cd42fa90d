import { describe, expect, it, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { fullStore } from '../helpers/full-store.ts';
import { isOverPostgres } from '../helpers/kept-store.ts';
import { patient } from '../helpers/patient.ts';
import {
  deferring,
  expectIntact,
  launchAgent,
  startTestAgent,
  type TestAgent,
} from '../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

/** Sends a task and resolves once it waits. */
async function parked(agent: TestAgent, id = 't1') {
  const held = agent.send(id, pay);
  await agent.reached(id, 'deferred');
  return { held };
}

// A commit to PostgreSQL waits for room, as below.
describe.skipIf(isOverPostgres)('a disk that refuses an audit line', () => {
  it.each(['approve', 'reject'])(
    'refuses a decision to %s with 503, and nothing is decided',
    async (decision) => {
      const agent = await startTestAgent(deferring());
      const { held } = await parked(agent);
      const before = agent.audit();
      const disk = await fullStore(agent);
      expect(await agent.decide('t1', { decision })).toMatchObject({ status: 503 });
      expect((await agent.get('/tasks/t1')).body).toMatchObject({ status: { state: 'deferred' } });
      expect(agent.audit()).toEqual(before);
      expect(agent.folder.paid).toEqual([]);
      await disk.fix();
      await held;
      expect(await agent.decide('t1', { decision })).toMatchObject({ status: 200 });
      const { status } = await agent.reached('t1', decision === 'approve' ? 'completed' : 'failed');
      expect(status.state).toBe(decision === 'approve' ? 'completed' : 'failed');
      expect(agent.folder.paid).toHaveLength(decision === 'approve' ? 1 : 0);
      const decided = agent.audit('t1').filter(({ event }) => event === 'task_deferred_decision');
      expect(decided).toHaveLength(1);
      expect(agent.audit('t1').map(({ seq }) => seq)).toEqual(
        agent.audit('t1').map((_, index) => index + 1),
      );
      await expectIntact(agent.auditPath);
    },
  );

  it('refuses sends with 503 and fails /readyz, until it accepts lines again', async () => {
    const agent = await startTestAgent();
    const disk = await fullStore(agent);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await agent.send(`t${attempt}`, [{ say: 'hi' }])).toMatchObject({ status: 503 });
      expect(await agent.get('/readyz')).toMatchObject({ status: 503 });
    }
    expect(await agent.get('/healthz')).toMatchObject({ status: 200 });
    const rpc = await agent.rpc('tasks/send', { id: 'r', message: {} });
    expect(rpc.body.error).toBeDefined();
    await disk.fix();
    expect(await agent.get('/readyz')).toMatchObject({ status: 200 });
    expect(await agent.send('t9', [{ say: 'hi' }])).toMatchObject({ status: 200 });
    expect(
      agent.audit().filter(({ task_id }) => task_id !== undefined && task_id !== 't9'),
    ).toEqual([]);
    await expectIntact(agent.auditPath);
  });

  it('prevents the run of a tool without a start line', async () => {
    const agent = await startTestAgent();
    const sent = agent.send('t1', [{ tool: 'hold' }, { tool: 'pay' }, { say: 'paid' }]);
    await agent.reached('t1', 'working');
    await expect.poll(() => agent.folder.held.length).toBe(1);
    const disk = await fullStore(agent);
    await agent.folder.openGate('held');
    expect((await sent).status).toBe(503);
    expect(agent.folder.paid).toEqual([]);
    await disk.fix();
    await expectIntact(agent.auditPath);
  });

  it('loses no deferral over a restart', async () => {
    const folder = new AgentFolder(deferring({}, { on_restart: 'resume' }));
    const before = await launchAgent({}, { folder });
    const { held } = await parked(before);
    const disk = await fullStore(before);
    expect(await before.decide('t1', { decision: 'approve' })).toMatchObject({ status: 503 });
    await disk.fix();
    await held;
    await before.stop();
    const agent = await startTestAgent({}, { folder });
    await agent.reached('t1', 'deferred');
    expect(await agent.decide('t1', { decision: 'approve' })).toMatchObject({ status: 200 });
    await agent.reached('t1', 'completed');
    expect(folder.paid).toHaveLength(1);
    await expectIntact(agent.auditPath);
  });
});

describe.runIf(isOverPostgres)('a full database for an audit line', () => {
  const notReady = (agent: TestAgent): Promise<void> =>
    vi.waitFor(async () => expect((await agent.get('/readyz')).status).toBe(503), patient);

  const inOrder = (agent: TestAgent): void => {
    const seqs = agent.audit('t1').map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  };

  it.each([
    ['approve', 'completed', 1],
    ['reject', 'failed', 0],
  ] as const)('delays a decision to %s until its line is stored', async (decision, state, paid) => {
    const agent = await startTestAgent(deferring());
    await parked(agent);
    const before = agent.audit();
    const disk = await fullStore(agent);
    const decided = agent.decide('t1', { decision });
    await notReady(agent);
    expect((await agent.get('/tasks/t1')).body).toMatchObject({ status: { state: 'deferred' } });
    expect([agent.audit(), agent.folder.paid]).toEqual([before, []]);
    await disk.fix();
    expect(await decided).toMatchObject({ status: 200 });
    await agent.reached('t1', state);
    expect(agent.folder.paid).toHaveLength(paid);
    const lines = agent.audit('t1').filter(({ event }) => event === 'task_deferred_decision');
    expect(lines).toHaveLength(1);
    inOrder(agent);
    await expectIntact(agent.auditPath);
  });

  it('refuses sends with 503 and fails /readyz, until it accepts lines again', async () => {
    const agent = await startTestAgent();
    const disk = await fullStore(agent);
    const first = agent.send('t1', [{ say: 'hi' }]);
    await notReady(agent);
    for (const id of ['t2', 't3']) {
      expect(await agent.send(id, [{ say: 'hi' }])).toMatchObject({ status: 503 });
    }
    expect(await agent.get('/healthz')).toMatchObject({ status: 200 });
    const rpc = await agent.rpc('tasks/send', { id: 'r', message: {} });
    expect(rpc.body.error).toBeDefined();
    await disk.fix();
    expect(await first).toMatchObject({ status: 200 });
    expect(await agent.send('t9', [{ say: 'hi' }])).toMatchObject({ status: 200 });
    const tasks = agent.audit().flatMap(({ task_id: id }) => id ?? []);
    expect([...new Set(tasks)]).toEqual(['t1', 't9']);
    await expectIntact(agent.auditPath);
  });

  it('prevents the run of a tool without a start line', async () => {
    const agent = await startTestAgent();
    const sent = agent.send('t1', [{ tool: 'hold' }, { tool: 'pay' }, { say: 'paid' }]);
    await agent.reached('t1', 'working');
    await expect.poll(() => agent.folder.held.length).toBe(1);
    const disk = await fullStore(agent);
    await agent.folder.openGate('held');
    await notReady(agent);
    expect(agent.folder.paid).toEqual([]);
    await disk.fix();
    expect((await sent).body.status.state).toBe('completed');
    expect(agent.folder.paid).toHaveLength(1);
    inOrder(agent);
    await expectIntact(agent.auditPath);
  });

  it('loses no deferral over a restart', async () => {
    const folder = new AgentFolder(deferring({}, { on_restart: 'resume' }));
    const before = await launchAgent({}, { folder });
    const { held } = await parked(before);
    const disk = await fullStore(before);
    const decided = before.decide('t1', { decision: 'approve' }).then(
      ({ status }) => status,
      () => 'cut off',
    );
    await notReady(before);
    await before.stop();
    expect([await decided, (await held).status]).toEqual(['cut off', 503]);
    await disk.free();
    const agent = await startTestAgent({}, { folder });
    await agent.reached('t1', 'deferred');
    expect(await agent.decide('t1', { decision: 'approve' })).toMatchObject({ status: 200 });
    await agent.reached('t1', 'completed');
    expect(folder.paid).toHaveLength(1);
    inOrder(agent);
    await expectIntact(agent.auditPath);
  });
});
