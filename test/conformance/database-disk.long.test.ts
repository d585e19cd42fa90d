import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';
import { sharedLog } from '../helpers/shared-log.ts';
import { isWithoutMount, SmallDisk } from '../helpers/small-disk.ts';
import { deferring, launchAgent, type TestAgent, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 120_000 });

let disk: SmallDisk;
let server: PostgresServer;

beforeEach(async () => {
  if (isWithoutMount) return;
  disk = SmallDisk.mount(256);
  server = await PostgresServer.start({ parent: disk.path });
});
afterEach(async () => {
  if (isWithoutMount) return;
  await server.remove();
  disk.unmount();
});

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const hold = [{ tool: 'hold', args: { n: 1 } }, { say: 'got {result}' }];

/** Something to say that no page of the database has room for. */
const long = () => [{ say: randomBytes(40_000).toString('base64') }];

const isReady = (at: TestAgent, status: number) =>
  vi.waitFor(async () => expect((await at.get('/readyz')).status).toBe(status), patient);

const unwritable =
  'the service cannot record events at the moment, so it accepts no work; try again in a moment; its log says what is wrong with the database';
const full =
  'the database of SERVICE_DATABASE_URL has no room left on its disk; free space there, or add some';

/** Why a daemon does not start. */
async function refusalOf(database: string): Promise<string> {
  const folder = new AgentFolder({ store: { kind: 'postgres' } });
  const env = { SERVICE_DATABASE_URL: server.url(database) };
  const said = await launchAgent({}, { folder, env }).then(
    () => 'it started',
    (error: unknown) => (error as Error).message,
  );
  folder.remove();
  return said;
}

/** Daemons with a call that waits, one with a tool at work, and messages that the disk has no room for. */
async function fillUnder() {
  const { a, b, c, database } = await startReplicas(server, deferring());
  const held = a.send('held', pay);
  const working = b.send('working', hold);
  await b.reached('held', 'deferred');
  await vi.waitFor(() => expect(b.folder.held).toHaveLength(1), patient);
  const empty = await server.createDatabase();
  disk.fill();
  const early = [a, b, c].map((at, index) => at.send(`early-${index}`, long()));
  return { all: [a, b, c] as const, held, working, early, database, empty };
}

/** Expects each task to have been gone through once, from its beginning to its end. */
async function expectWhole(database: string, all: readonly TestAgent[]): Promise<void> {
  const log = await sharedLog(server, database);
  const ofTasks = Map.groupBy(
    log.filter(({ task_id: id }) => id !== undefined),
    ({ task_id: id }) => id,
  );
  const ends = [...ofTasks].map(([id, lines]) => [
    id,
    lines.map(({ seq }) => seq),
    lines.filter(({ event }) => event === 'session_end').length,
    lines.filter(({ event }) => event === 'task_deferred_decision').length,
  ]);
  expect(ends).toEqual(
    [...ofTasks].map(([id, lines]) => [
      ...[id, lines.map((_, index) => index + 1), 1],
      id === 'held' ? 1 : 0,
    ]),
  );
  expect(all.flatMap(({ folder }) => folder.paid)).toHaveLength(1);
  expect(all.flatMap(({ folder }) => folder.held)).toHaveLength(1);
}

describe.skipIf(isWithoutMount)('a database with a full disk', () => {
  it('accepts no new work, keeps waiting calls, and continues once there is space', async () => {
    const { all, held, working, early, database, empty } = await fillUnder();
    const [a, b, c] = all;
    for (const at of all) {
      await isReady(at, 503);
      const refused = await at.send('late', pay);
      expect([refused.status, refused.body.error]).toEqual([503, unwritable]);
      expect((await at.get('/healthz')).status).toBe(200);
      expect((await at.get('/tasks/held')).body.status.state).toBe('deferred');
      const told = at.log.filter(({ level }) => level !== 'info');
      expect(new Set(told.flatMap(({ fields }) => Object(fields).error ?? []))).toEqual(
        new Set([full]),
      );
    }
    expect(await refusalOf(empty)).toBe(full);
    const decided = c.decide('held', { decision: 'approve', approver: 'ann' });
    await b.folder.openGate('7');
    disk.makeRoom();
    for (const at of all) await isReady(at, 200);
    expect((await decided).status).toBe(200);
    expect(textOf(await held)).toBe('paid');
    expect(textOf(await working)).toBe('got 7');
    expect((await Promise.all(early)).map(({ body }) => body.status.state)).toEqual(
      early.map(() => 'completed'),
    );
    expect((await a.send('late', [{ say: 'hi' }])).status).toBe(200);
    await expectWhole(database, all);
  });

  it('that stops because of it counts as unreachable until there is space', async () => {
    const { all, held, working, early, database } = await fillUnder();
    const [, b, c] = all;
    const written = (async () => {
      for (;;) {
        await server.query(`SELECT pg_logical_emit_message(false, 'x', repeat('x', 1000000))`);
      }
    })();
    await expect(written).rejects.toThrow();
    for (const at of all) await isReady(at, 503);
    const decided = c.decide('held', { decision: 'approve', approver: 'ann' });
    await b.folder.openGate('7');
    await server.stop('immediate');
    disk.makeRoom();
    await server.start();
    for (const at of all) await isReady(at, 200);
    if ((await decided).status === 503) {
      expect((await c.decide('held', { decision: 'approve', approver: 'ann' })).status).toBe(200);
    }
    expect(textOf(await held)).toBe('paid');
    expect(textOf(await working)).toBe('got 7');
    expect((await Promise.all(early)).map(({ body }) => body.status.state)).toEqual(
      early.map(() => 'completed'),
    );
    await expectWhole(database, all);
  });
});
