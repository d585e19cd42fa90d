import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Clock } from '../../../../src/actors/ports/clock.ts';
import type { StoreChange } from '../../../../src/actors/records/postgres/change-reader.ts';
import type { PostgresStore } from '../../../../src/actors/records/postgres/postgres-store.ts';
import { type PostgresPlace, postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { patient } from '../../../helpers/patient.ts';
import { type PostgresServer, sharedPostgres } from '../../../helpers/postgres-server.ts';
import { anEvent, aParkedTask, aTask, aWrite } from '../../../helpers/stored-tasks.ts';

let server: PostgresServer;
let place: PostgresPlace;
let one: PostgresStore;
let other: PostgresStore;

beforeEach(async () => {
  server = await sharedPostgres();
  place = await postgresPlace();
  one = await place.open();
  other = await place.open();
});

/** Cuts the connections on which stores hear of each other. */
const cutListeners = () =>
  server.cut(place.database, `query LIKE 'SELECT (extract%' OR query LIKE 'LISTEN%'`);

describe('two stores over one schema', () => {
  it('have exactly one winner in each of 100 races for a task', async () => {
    await one.save('t-1', () => aWrite(aTask()));
    const winners: number[] = [];
    for (let revision = 2; revision <= 101; revision += 1) {
      const outcomes = await Promise.allSettled(
        [one, other].map((store) => store.save('t-1', () => aWrite(aTask({ revision })))),
      );
      winners.push(outcomes.filter(({ status }) => status === 'fulfilled').length);
    }
    expect(winners).toEqual(winners.map(() => 1));
    expect((await place.lines()).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 101 }, (_, at) => at + 1),
    );
  });

  it('never block each other, in any order of saves, parks and ends of the same tasks', async () => {
    const ids = Array.from({ length: 12 }, (_, at) => `t-${at}`);
    const revisions = new Map(ids.map((id) => [id, 0]));
    const failures: unknown[] = [];
    for (let round = 1; round <= 25; round += 1) {
      const outcomes = await Promise.allSettled(
        [one, other].flatMap((store, index) =>
          (index === 0 ? ids : ids.toReversed()).map((id) => {
            const revision = (revisions.get(id) ?? 0) + 1;
            const task =
              round % 2 === 1 ? aParkedTask(id, 9_000, revision) : aTask({ id, revision });
            return store.save(id, () =>
              aWrite(task, { sent: [{ key: `m-${id}-${round}`, supersedes: null }] }),
            );
          }),
        ),
      );
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected' && outcome.reason.code !== 'conflict')
          failures.push(outcome.reason);
      }
      for (const id of ids) revisions.set(id, round);
    }
    expect(failures).toEqual([]);
    expect(await place.lines()).toHaveLength(12 * 25);
    expect([one.isWritable(), other.isWritable()]).toEqual([true, true]);
  });

  it('write messages of tasks while these end, without an error', async () => {
    const ids = Array.from({ length: 20 }, (_, at) => `t-${at}`);
    await Promise.all(ids.map((id) => one.save(id, () => aWrite(aParkedTask(id, 9_000)))));
    const rows = (await Promise.all(ids.map((id) => one.approvals.ofTask(id)))).flat();
    const told = rows.toReversed().map(({ position, version, notice }) => ({
      ...{ position, version, ref: { ts: String(position) }, told: notice, isClosed: false },
    }));
    for (let revision = 2; revision < 12; revision += 1) {
      const isParked = revision % 2 === 1;
      await Promise.all([
        other.approvals.keep(told),
        other.approvals.keep(told.toReversed()),
        ...ids.map((id) =>
          one.save(id, () =>
            aWrite(isParked ? aParkedTask(id, 9_000, revision) : aTask({ id, revision })),
          ),
        ),
      ]);
    }
    expect(await place.lines()).toHaveLength(20 * 11);
  });
});

describe('a change by another store', () => {
  it('arrives in the order of commits, without own changes', async () => {
    const heard: StoreChange[] = [];
    onTestFinished(one.follow(async (change) => void heard.push(change)));
    const parked = aParkedTask('t-2', 9_000);
    await one.save('t-0', () => aWrite(aTask({ id: 't-0' })));
    await other.save('t-1', () => aWrite(aTask()));
    await other.save('t-2', () => aWrite(parked));
    await other.save('t-2', () => aWrite(aTask({ id: 't-2', revision: 2 })));
    await vi.waitFor(() => expect(heard).toHaveLength(3), patient);
    const { deferral, requester, settled } = parked;
    expect(heard).toEqual([
      { change: 2, taskId: 't-1', revision: 1, waited: null },
      { change: 3, taskId: 't-2', revision: 1, waited: null },
      {
        ...{ change: 4, taskId: 't-2', revision: 2 },
        waited: { requester, settled, deferral: { ...deferral, args: {}, context: '' } },
      },
    ]);
  });

  it('arrives once and in order while its connections are cut', async () => {
    const heard: [number, number][] = [];
    onTestFinished(one.follow(async ({ change, revision }) => void heard.push([change, revision])));
    let isOver = false;
    const cutting = (async () => {
      while (!isOver) await cutListeners();
    })();
    for (let revision = 1; revision <= 60; revision += 1) {
      await other.save('t-1', () => aWrite(aTask({ revision })));
    }
    isOver = true;
    await cutting;
    const all = Array.from({ length: 60 }, (_, at) => [at + 1, at + 1]);
    await vi.waitFor(() => expect(heard).toEqual(all), patient);
  });

  it('is sent again to a store that could not receive it', async () => {
    const heard: number[] = [];
    let isBroken = true;
    const follower = async ({ revision }: StoreChange) => {
      if (revision === 2 && isBroken) throw new Error('not now');
      heard.push(revision);
    };
    onTestFinished(one.follow(follower));
    for (const revision of [1, 2]) await other.save('t-1', () => aWrite(aTask({ revision })));
    await vi.waitFor(() => expect(heard).toEqual([1]), patient);
    isBroken = false;
    await other.save('t-1', () => aWrite(aTask({ revision: 3 })));
    await vi.waitFor(() => expect(heard).toEqual([1, 2, 3]), patient);
  });

  it('is read from the last position, however many own changes followed', async () => {
    onTestFinished(one.follow(async () => undefined));
    for (let revision = 1; revision <= 30; revision += 1) {
      await one.save('t-1', () => aWrite(aTask({ revision })));
    }
    const query = vi.spyOn(one.database, 'query');
    await one.save('t-1', () => aWrite(aTask({ revision: 31 })));
    const reads = () => query.mock.calls.filter(([sql]) => sql.includes('FROM task_changes'));
    await vi.waitFor(() => expect(reads().length).toBeGreaterThan(0), patient);
    expect(Number(reads()[0]?.[1]?.[0])).toBeGreaterThan(20);
  });
});

describe('the lines of the log', () => {
  it('arrive in order from a number on, from any writer, also over a cut connection', async () => {
    await one.record([anEvent('t-1', 1), anEvent('t-1', 2)]);
    const stop = new AbortController();
    const seen: [number, string][] = [];
    const reading = (async () => {
      for await (const { first, texts } of one.lines(1, {
        lost: stop.signal,
        over: stop.signal,
      })) {
        for (const [index, text] of texts.entries()) seen.push([first + index, text]);
      }
    })();
    await other.record([anEvent('t-1', 3)]);
    await cutListeners();
    await one.record([anEvent('t-1', 4)]);
    await other.record([anEvent('t-1', 5)]);
    await vi.waitFor(() => expect(seen).toHaveLength(4), patient);
    stop.abort();
    await reading;
    const rows = await place.execute(
      'SELECT line, text FROM audit_lines WHERE line > 1 ORDER BY line',
    );
    expect(seen).toEqual(rows.map(({ line, text }) => [Number(line), text]));
  });
});

describe('one of several stores', () => {
  it('knows whether it was the first, and which others have exited', async () => {
    expect([one.isFirst, other.isFirst, await one.deadReplicas()]).toEqual([true, false, []]);
    await other.close();
    await vi.waitFor(
      async () => expect(await one.deadReplicas()).toEqual([other.replica]),
      patient,
    );
    await one.forgetReplica(other.replica);
    expect(await one.deadReplicas()).toEqual([]);
    await one.close();
    expect((await place.open()).isFirst).toBe(true);
  });

  it('does not count as exited once its connection is back', async () => {
    await cutListeners();
    await one.forgetReplica(other.replica);
    const living = `SELECT gone_at IS NULL AS lives FROM replicas WHERE id = '${other.replica}'`;
    await vi.waitFor(
      async () => expect(await place.execute(living)).toEqual([{ lives: true }]),
      patient,
    );
    await vi.waitFor(async () => expect(await one.deadReplicas()).toEqual([]), patient);
  });

  it('has one connection again, however often it was cut', async () => {
    for (let cuts = 0; cuts < 15; cuts += 1) await cutListeners();
    const kept = () =>
      server.query(
        `SELECT count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory'
          AND database = (SELECT oid FROM pg_database WHERE datname = $1)`,
        [place.database],
      );
    await vi.waitFor(async () => expect(await kept()).toEqual([{ locks: 2 }]), patient);
  });

  it('writes under its name after its row was deleted', async () => {
    await one.save('t-1', () => aWrite(aTask()));
    await place.execute(`DELETE FROM replicas WHERE id = '${one.replica}'`);
    await cutListeners();
    const rows = () => place.execute(`SELECT number FROM replicas WHERE id = '${one.replica}'`);
    await vi.waitFor(async () => expect(await rows()).toEqual([{ number: one.number }]), patient);
    await one.save('t-1', () => aWrite(aTask({ revision: 2 })));
    expect(await place.lines()).toHaveLength(2);
  });

  it('has a lock alone until it releases it, disconnects or closes', async () => {
    const lock = await one.lock('engine');
    expect([lock === null, await other.lock('engine')]).toEqual([false, null]);
    expect(await other.lock('another')).not.toBeNull();
    await lock?.release();
    await lock?.lost;
    const second = await other.lock('engine');
    expect(second).not.toBeNull();
    expect(await other.lock('engine')).toBeNull();
    const itsPlace = `pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid = ${other.number})`;
    await server.cut(place.database, itsPlace);
    await second?.lost;
    const third = await one.lock('engine');
    expect(third).not.toBeNull();
    await third?.release();
    await third?.release();
  });

  it('takes a lock on its permanent connection', async () => {
    await one.lock('engine');
    for (let tries = 0; tries < 3; tries += 1) await other.lock('engine');
    const holders = await place.execute(
      `SELECT count(DISTINCT pid)::int AS connections, count(*)::int AS locks FROM pg_locks
        WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    expect(holders).toEqual([{ connections: 2, locks: 3 }]);
  });

  it('uses the time of the server, also on a machine whose clock is a minute wrong', async () => {
    const late: Clock = {
      ...{ setTimeout, clearTimeout: () => undefined },
      now: () => Date.now() - 60_000,
    };
    const early: Clock = { ...late, now: () => Date.now() + 60_000 };
    const clocks = [one.clock(late), other.clock(early)];
    const [row] = await server.query(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at',
    );
    for (const clock of clocks)
      expect(Math.abs(clock.now() - Number(row?.['at']))).toBeLessThan(2_000);
  });

  it('is not affected by a clock change of its machine', async () => {
    const base: Clock = { setTimeout, clearTimeout: () => undefined, now: () => performance.now() };
    const clock = one.clock(base);
    const before = clock.now();
    vi.spyOn(Date, 'now').mockReturnValue(0);
    await cutListeners();
    await vi.waitFor(() => expect(one.isWritable()).toBe(true), patient);
    expect(clock.now()).toBeGreaterThanOrEqual(before);
    expect(clock.now() - before).toBeLessThan(10_000);
  });
});
