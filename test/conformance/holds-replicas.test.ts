import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

const settings = {
  gate: { tools: { Bash: {} }, outcome_within: '1s' },
  security: { defer: { enabled: true, tools: { Bash: { to: 'channel:console:*', edit: true } } } },
} as ServiceSettings;

const asked = { key: 's-1:1', tool: 'Bash', args: { command: 'rm -rf build' } };

it('three daemons have one hold, released once and closed once', async () => {
  const { a, b, c } = await startReplicas(server, settings);
  const all = [a, b, c];
  const asking = all.flatMap((at) => [at.post('/holds', asked), at.post('/holds', asked)]);
  const ids = (await Promise.all(asking)).map(({ body }) => body.hold_id);
  expect(new Set(ids).size).toBe(1);
  const [id] = ids;
  const other = { ...asked, args: { command: 'rm -rf /' } };
  expect((await b.post('/holds', other)).status).toBe(409);
  const waiting = c.get(`/holds/${id}?wait=30`);
  expect((await a.post(`/holds/${id}/decisions`, { decision: 'approve' })).status).toBe(200);
  expect((await waiting).body.status).toBe('approved');
  const again = await Promise.all(all.map((at) => at.get(`/holds/${id}`)));
  expect(again.map(({ body }) => body.released)).toEqual([true, true, true]);
  const outcomes = [{ status: 'succeeded' }, { status: 'failed' }, { status: 'not_run' }];
  const closing = all.map((at, index) => at.post(`/holds/${id}/outcome`, outcomes[index]));
  const statuses = (await Promise.all(closing)).map(({ status }) => status);
  expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 409, 409]);
});

it('three daemons release an approved call to one of many requests', async () => {
  const { a, b, c } = await startReplicas(server, settings);
  const { body } = await a.post('/holds', asked);
  const id = body.hold_id;
  await b.post(`/holds/${id}/decisions`, { decision: 'approve' });
  const taking = [a, b, c, a, b, c, a, b, c].map((at) => at.get(`/holds/${id}`));
  const taken = (await Promise.all(taking)).map(({ body: hold }) => hold.released);
  expect(taken.filter((released) => released === false)).toHaveLength(1);
});

it('three daemons release a call once, also while its request waits at another one', async () => {
  const { a, b, c } = await startReplicas(server, settings);
  for (let round = 0; round < 4; round += 1) {
    const waiting = a.post('/holds', { ...asked, key: `${round}` }, { prefer: 'wait=30' });
    const id = await vi.waitFor(async () => {
      const { deferrals } = (await b.get('/deferrals')).body;
      expect(deferrals).toHaveLength(1);
      return deferrals[0].task_id;
    }, patient);
    await b.post(`/holds/${id}/decisions`, { decision: 'approve' });
    const answers = await Promise.all([b.get(`/holds/${id}`), c.get(`/holds/${id}`), waiting]);
    const released = answers.map(({ body }) => body.released);
    expect(released.filter((one) => one === false)).toHaveLength(1);
  }
});

it('three daemons keep one of several calls with one key', async () => {
  const { a, b, c } = await startReplicas(server, settings);
  for (let round = 0; round < 4; round += 1) {
    const answers = await Promise.all(
      [a, b, c, a, b, c].map((at, index) =>
        at.post('/holds', { ...asked, key: `${round}`, args: { command: `rm ${index}` } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
    expect(new Set(answers.map(({ body }) => body.hold_id)).size).toBe(1);
  }
});

it('three daemons end a hold once at a concurrent decision, edit and cancel', async () => {
  const { a, b, c } = await startReplicas(server, settings);
  for (let round = 0; round < 6; round += 1) {
    const { body } = await a.post('/holds', { ...asked, key: `${round}` });
    const path = `/holds/${body.hold_id}`;
    const edited = { decision: 'approve', args: { command: 'ls' } };
    const [edit, rejection, cancellation] = await Promise.all([
      a.post(`${path}/decisions`, edited),
      b.post(`${path}/decisions`, { decision: 'reject' }),
      c.request('DELETE', path),
    ]);
    const ends = [
      ...(edit.status === 200 ? ['approved'] : []),
      ...(rejection.status === 200 ? ['rejected'] : []),
      ...(cancellation.body.status === 'cancelled' ? ['cancelled'] : []),
    ];
    const answers = await Promise.all([a, b, c].map((at) => at.get(`${path}?wait=30`)));
    const statuses = answers.map((answer) => answer.body.status);
    // A cancellation may follow an approval, until the call may run.
    const end = ends.at(-1);
    expect(ends.filter((one) => one !== 'cancelled').length).toBeLessThanOrEqual(1);
    expect(ends).not.toEqual(['rejected', 'cancelled']);
    expect(statuses).toEqual([end, end, end]);
    for (const { body: hold } of answers) {
      expect(hold.args).toEqual(end === 'approved' ? { command: 'ls' } : undefined);
    }
  }
});

it('three daemons record a missing outcome', async () => {
  const { a, b } = await startReplicas(server, settings);
  const { body } = await a.post('/holds', asked);
  await b.post(`/holds/${body.hold_id}/decisions`, { decision: 'approve' });
  await a.get(`/holds/${body.hold_id}`);
  await vi.waitUntil(
    async () => {
      const { deferrals } = (await b.get('/deferrals?decided_by=me')).body;
      return deferrals[0]?.outcome === 'unknown';
    },
    { timeout: 30_000, interval: 100 },
  );
});
