import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
  vi,
} from 'vitest';
import type { PostgresStore } from '../../../../src/actors/records/postgres/postgres-store.ts';
import { UnreachableError } from '../../../../src/actors/records/store/task-store.ts';
import { type PostgresPlace, postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { LossyLink } from '../../../helpers/lossy-link.ts';
import { patient } from '../../../helpers/patient.ts';
import { PostgresServer } from '../../../helpers/postgres-server.ts';
import { anEvent, aTask, aWrite } from '../../../helpers/stored-tasks.ts';

let server: PostgresServer;
let place: PostgresPlace;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

// One test that fails must not take the others with it.
afterEach(async () => {
  if (!server.isRunning) await server.start();
});

beforeEach(async () => {
  place = await postgresPlace(server);
});

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `t-${at}`);

/** Saves tasks one after the other and returns what became of each, and how often it was put together. */
async function saveInTurns(
  store: PostgresStore,
  ids: readonly string[],
  between?: (at: number) => unknown,
) {
  const collected = new Map<string, number>();
  const saves = [];
  for (const [at, id] of ids.entries()) {
    saves.push(
      store.save(id, () => {
        collected.set(id, (collected.get(id) ?? 0) + 1);
        return aWrite(aTask({ id }));
      }),
    );
    await between?.(at);
  }
  const outcomes = await Promise.allSettled(saves);
  return { collected, refused: outcomes.filter(({ status }) => status === 'rejected') };
}

/** Expects each task once in the store and once in the log, which verifies, each put together once. */
async function expectEachOnce(
  ids: readonly string[],
  { collected, refused }: Awaited<ReturnType<typeof saveInTurns>>,
): Promise<void> {
  expect(refused).toEqual([]);
  expect([...collected.values()]).toEqual(ids.map(() => 1));
  const lines = await place.lines();
  const logged = lines.flatMap(({ event, task_id: id }) =>
    event === 'tool_exec' ? [String(id)] : [],
  );
  expect(logged.toSorted()).toEqual(ids.toSorted());
  const rows = await place.execute('SELECT id FROM tasks');
  expect(rows.map(({ id }) => String(id)).toSorted()).toEqual(ids.toSorted());
}

const isCut = (store: PostgresStore) =>
  vi.waitFor(() => expect(store.isWritable()).toBe(false), patient);
const isBack = (store: PostgresStore) =>
  vi.waitFor(() => expect(store.isWritable()).toBe(true), patient);

describe('a server that stops', () => {
  it.each(['fast', 'immediate'] as const)(
    'loses and doubles no save when it stops in the middle (%s)',
    async (mode) => {
      const store = await place.open();
      const ids = idsOf(60);
      const outcome = await saveInTurns(store, ids, async (at) => {
        await new Promise(setImmediate);
        if (at === 20) void server.stop(mode).then(() => server.start());
      });
      await expectEachOnce(ids, outcome);
      await isBack(store);
    },
  );

  it('rejects a flush with the reason, and accepts the write when it is back', async () => {
    const store = await place.open();
    await server.stop();
    await isCut(store);
    const saved = store.save('t-1', () => aWrite(aTask()));
    const recorded = store.record([anEvent('t-0')]);
    expect(await store.flush()).toMatchObject({ code: 'unrecorded' });
    await expect(store.rows.find('t-1')).rejects.toThrow(UnreachableError);
    await server.start();
    await Promise.all([saved, recorded]);
    await isBack(store);
    expect(await store.rows.find('t-1')).toEqual(aTask());
    expect((await place.lines()).map(({ task_id: id }) => id)).toEqual(['t-0', 't-1']);
  });

  it('lets a closing store drop unsaved data', async () => {
    const store = await place.open();
    await server.stop();
    await isCut(store);
    const saves = [1, 2].map((at) => store.save(`t-${at}`, () => aWrite(aTask({ id: `t-${at}` }))));
    const outcomes = Promise.allSettled([...saves, store.record([anEvent('t-0')])]);
    await store.close();
    await server.start();
    expect(await outcomes).toMatchObject(
      [1, 2, 3].map(() => ({ status: 'rejected', reason: { code: 'unrecorded' } })),
    );
    const left = () =>
      server.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1', [place.database]);
    await vi.waitFor(async () => expect(await left()).toEqual([]), patient);
  });
});

describe('connections that are cut', () => {
  it('at any moment of 500 saves lose none, double none, and leave a valid log', async () => {
    const store = await place.open();
    const ids = idsOf(500);
    let isOver = false;
    const cutting = (async () => {
      for (let cuts = 0; !isOver && cuts < 40; cuts += 1) {
        await server.cut(place.database, `random() < 0.7 AND application_name = 'holdpoint'`);
      }
    })();
    const outcome = await saveInTurns(store, ids, () => new Promise(setImmediate));
    isOver = true;
    await cutting;
    await expectEachOnce(ids, outcome);
    await isBack(store);
  });

  it('commit the saves of two stores once each', async () => {
    const stores = await Promise.all([place.open(), place.open()]);
    let isOver = false;
    const cutting = (async () => {
      for (let cuts = 0; !isOver && cuts < 30; cuts += 1)
        await server.cut(place.database, 'random() < 0.5');
    })();
    await stores[0]?.save('t-1', () => aWrite(aTask()));
    const wins: number[] = [];
    for (let revision = 2; revision < 60; revision += 1) {
      const outcomes = await Promise.allSettled(
        stores.map((store) => store.save('t-1', () => aWrite(aTask({ revision })))),
      );
      wins.push(outcomes.filter(({ status }) => status === 'fulfilled').length);
    }
    isOver = true;
    await cutting;
    expect(wins).toEqual(wins.map(() => 1));
    expect((await place.lines()).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 59 }, (_, at) => at + 1),
    );
  });
});

describe('a commit whose answer is lost', () => {
  async function openOver(link: LossyLink): Promise<PostgresStore> {
    const url = new URL(server.url(place.database));
    url.port = String(link.port);
    return place.open({ url: () => url.href });
  }

  it('is found again, including its refusals', async () => {
    const other = await place.open();
    await other.save('taken', () => aWrite(aTask({ id: 'taken' })));
    const link = await LossyLink.open(server.port);
    const store = await openOver(link);
    for (let round = 1; round <= 5; round += 1) {
      link.loseCommits(1);
      const [saved, refused, recorded] = await Promise.allSettled([
        store.save(`t-${round}`, () => aWrite(aTask({ id: `t-${round}` }))),
        store.save('taken', () => aWrite(aTask({ id: 'taken' }))),
        store.record([anEvent('loose', round)]),
      ]);
      expect([saved, refused, recorded]).toMatchObject([
        { status: 'fulfilled' },
        { status: 'rejected', reason: { code: 'conflict' } },
        { status: 'fulfilled' },
      ]);
    }
    expect(link.losing).toBe(0);
    const ids = (await place.lines()).map(({ task_id: id }) => id);
    expect(ids).toEqual(['taken', ...[1, 2, 3, 4, 5].flatMap((round) => ['loose', `t-${round}`])]);
  });

  it('is awaited while the server still runs it', async () => {
    const link = await LossyLink.open(server.port);
    const store = await openOver(link);
    await store.save('t-1', () => aWrite(aTask()));
    // The last moment of a commit, held up by a lock that the test has.
    const held = await holdCommits();
    link.loseCommits(1);
    const saves = Promise.allSettled([
      store.save('t-1', () => aWrite(aTask({ revision: 2 }))),
      store.save('t-2', () => aWrite(aTask({ id: 't-2' }))),
      store.record([anEvent('loose')]),
    ]);
    const waiting = () =>
      server.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'
          AND wait_event <> 'advisory'`,
        [place.database],
      );
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), patient);
    await held.release();
    expect((await saves).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    expect((await place.lines()).map(({ task_id: id }) => id)).toEqual([
      't-1',
      'loose',
      't-1',
      't-2',
    ]);
  });

  it('and every later command are recovered when the connection is silent', async () => {
    const link = await LossyLink.open(server.port);
    const store = await openOver(link);
    await store.save('t-1', () => aWrite(aTask()));
    link.fallSilent();
    const saved = store.save('t-1', () => aWrite(aTask({ revision: 2 })));
    await vi.waitFor(() => expect(store.isWritable()).toBe(false), {
      timeout: 40_000,
      interval: 50,
    });
    link.recover();
    await saved;
    expect((await place.lines()).map(({ seq }) => seq)).toEqual([1, 2]);
    await vi.waitFor(() => expect(store.isWritable()).toBe(true), {
      timeout: 40_000,
      interval: 50,
    });
  });

  it('does not prevent a store from closing when the connection is silent', async () => {
    const link = await LossyLink.open(server.port);
    const store = await openOver(link);
    link.fallSilent();
    const saved = store.save('t-1', () => aWrite(aTask())).catch((error: unknown) => error);
    await store.close();
    expect(await saved).toMatchObject({ code: 'unrecorded' });
  });

  async function holdCommits(): Promise<{ release: () => Promise<void> }> {
    await place.execute(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NULL; END'`);
    await place.execute(`CREATE CONSTRAINT TRIGGER hold AFTER UPDATE ON replicas
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold()`);
    const client = await server.connect(place.database);
    onTestFinished(() => client.end());
    await client.query('SELECT pg_advisory_lock(42)');
    return { release: async () => void (await client.query('SELECT pg_advisory_unlock(42)')) };
  }
});
