import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
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
  security: { defer: { enabled: true, tools: { Bash: { to: 'channel:console:*' } } } },
} as ServiceSettings;

const asked = { key: 's-1:1', tool: 'Bash', args: { command: 'rm -rf build' } };

it('are one hold at three daemons, released once and closed once', async () => {
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
  expect(statuses.toSorted()).toEqual([200, 409, 409]);
});

it('release an approved call to one of many requests', async () => {
  const { a, b, c } = await startReplicas(server, settings);
  const { body } = await a.post('/holds', asked);
  const id = body.hold_id;
  await b.post(`/holds/${id}/decisions`, { decision: 'approve' });
  const taking = Array.from({ length: 12 }, (_, index) =>
    [a, b, c][index % 3]?.get(`/holds/${id}`),
  );
  const taken = (await Promise.all(taking)).map((answer) => answer?.body.released);
  expect(taken.filter((released) => released === false)).toHaveLength(1);
});

it('miss an outcome that no program reports', async () => {
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
