import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';
import { deferring, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

const paying = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

describe('three daemons of one agent', () => {
  it('are one agent: held at one, decided at another, read at the third', async () => {
    const { a, b, c } = await startReplicas(server, deferring());
    const held = a.send('order-1', paying);
    await c.reached('order-1', 'deferred');
    const decided = await b.decide('order-1', { decision: 'approve', approver: 'ann' });
    expect([decided.status, decided.body.decision]).toEqual([200, 'approve']);
    // A caller with this answer sees it on every daemon.
    for (const { body } of await Promise.all([a, b, c].map((at) => at.get('/tasks/order-1')))) {
      expect(body.status.state).not.toBe('deferred');
    }
    const answer = await held;
    expect([answer.status, textOf(answer)]).toEqual([200, 'paid']);
    expect([a, b, c].map(({ folder }) => folder.paid.length)).toEqual([0, 1, 0]);
    expect((await c.get('/tasks/order-1')).body.status.state).toBe('completed');
  });

  it('count the jobs that they share', async () => {
    const { a, b } = await startReplicas(server, deferring());
    const held = a.send('order-1', paying);
    await a.reached('order-1', 'deferred');
    const lines = async () => {
      const { body } = await b.get('/metrics');
      return String(body)
        .split('\n')
        .filter((line) => line.startsWith('holdpoint_store_jobs{'));
    };
    const counted = (scheduled: number) => [
      `holdpoint_store_jobs{queue="deadlines",state="scheduled"} ${scheduled}`,
      'holdpoint_store_jobs{queue="deadlines",state="ready"} 0',
      'holdpoint_store_jobs{queue="deadlines",state="active"} 0',
      'holdpoint_store_jobs{queue="tasks",state="scheduled"} 0',
      'holdpoint_store_jobs{queue="tasks",state="ready"} 0',
      'holdpoint_store_jobs{queue="tasks",state="active"} 0',
    ];
    await vi.waitFor(async () => expect(await lines()).toEqual(counted(1)), patient);
    await b.decide('order-1', { decision: 'approve', approver: 'ann' });
    await held;
    await vi.waitFor(async () => expect(await lines()).toEqual(counted(0)), patient);
  });

  it("are unreachable for each other's tools, like for their own", async () => {
    const open = { builtin_tools: ['http_request'], egress: { mode: 'dev-open' } };
    const { a, b, join } = await startReplicas(server, { ...deferring(), ...open });
    const late = await join();
    void b.send('order-1', paying).catch(() => undefined);
    await a.reached('order-1', 'deferred');
    const json = { decision: 'approve' };
    for (const [at, { url }] of [b, late].entries()) {
      const address = `http://localhost:${new URL(url).port}/tasks/order-1/decisions`;
      const asking = { tool: 'http_request', args: { url: address, method: 'POST', json } };
      const answer = await a.send(`t-${at}`, [asking, { say: '{result}' }]);
      expect(textOf(answer)).toBe('egress blocked: localhost is another daemon of the same agent');
    }
    expect((await a.get('/tasks/order-1')).body.status.state).toBe('deferred');
  });

  it('let exactly one of sixty decisions count', async () => {
    const { a, b, c } = await startReplicas(server, deferring());
    for (let round = 0; round < 5; round += 1) {
      const id = `race-${round}`;
      const held = a.send(id, paying);
      await b.reached(id, 'deferred');
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, index) => {
          const decision = (index + round) % 3 === 0 ? 'reject' : 'approve';
          const at = [a, b, c][index % 3] ?? a;
          return at.decide(id, { decision, approver: `p${index}` });
        }),
      );
      const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
      expect(statuses).toEqual([200, ...Array.from({ length: 59 }, () => 409)]);
      const winner = answers.find(({ status }) => status === 200)?.body;
      expect(textOf(await held)).toBe(
        winner.decision === 'approve' ? 'paid' : `defer: rejected by ${winner.approver}`,
      );
    }
  });

  it('end a wait in time, wherever it began, and follow it everywhere', async () => {
    const settings = deferring({ timeout: '2s' });
    const { a, b } = await startReplicas(server, settings);
    const held = a.send('late', paying);
    await b.reached('late', 'deferred');
    const stream = await b.stream('/tasks/late/events');
    expect(textOf(await held)).toBe('defer: no decision within 2s (auto-deny)');
    const told = await stream.until(({ event }) => event === 'result');
    expect(told.at(-1)?.data.status.state).toBe('failed');
  });

  it('cancel a task that runs elsewhere, whose tool ends with it', async () => {
    const { a, b } = await startReplicas(server);
    const held = a.send('long', [{ tool: 'hold' }, { say: 'never' }]);
    await vi.waitFor(() => expect(a.folder.held.length).toBe(1), patient);
    const canceled = await b.post('/tasks/long/cancel');
    expect([canceled.status, canceled.body.status.state]).toEqual([200, 'canceled']);
    expect((await held).body.status.state).toBe('canceled');
  });
});
