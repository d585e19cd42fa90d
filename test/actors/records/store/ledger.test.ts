import { describe, expect, it } from 'vitest';
import { UnreservedError } from '../../../../src/actors/records/store/task-store.ts';
import { seenLimit } from '../../../../src/machines/governance/bounded.ts';
import { kindsOfStores } from '../../../helpers/kinds-of-stores.ts';
import { aLimit, aMeasure, anEffect, day, end, start } from '../../../helpers/measured-calls.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';

const refunds = { name: 'refunds', period: day, max: '5000' };
const standing = { name: 'refunds', by: { caller: 'rita' }, period: day, max: '5000' };
const key = '{"caller":"rita"}';
const requester = { provider: 'sso', userId: 'rita' };
const event = { ts: '2026-07-01T09:00:00.000Z', fields: { method: 'runtime_token' } };

describe.each(kindsOfStores)('the ledger in $kind', ({ make }) => {
  it('lets as many of ten calls at once run as the limit has room for, also after a restart', async () => {
    const place = await make();
    const store = await place.open();
    const commits: number[] = [];
    store.onCommit = () => commits.push(1);
    const measured = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        store.ledger.measure(aMeasure(`c-${n}`, { limits: [aLimit()] }), 1_000),
      ),
    );
    const reserved = measured.flatMap((one) => one.reserved ?? []);
    expect(reserved).toEqual(
      Array.from({ length: 2 }, () => ({
        ...{ kind: 'limit', name: 'refunds', key: '{"caller":"rita"}', amount: '2000' },
        until: 86_401_000,
      })),
    );
    expect(measured.map(({ limits }) => limits[0]?.isOver)).toEqual([
      ...[false, false, true, true, true, true, true, true, true, true],
    ]);
    expect(commits).toEqual([]);
    await start(store, 'c-0', [...(measured[0]?.reserved ?? [])]);
    await start(store, 'c-1', [...(measured[1]?.reserved ?? [])]);
    await end(store, 'c-0', 'succeeded');
    // The start and the end of each call are the only commits.
    expect(commits).toHaveLength(3);
    await store.close();

    const { ledger } = await place.open();
    const used = { used: '2000', reserved: '2000' };
    expect(await ledger.standings([refunds], 2_000)).toEqual([{ ...standing, ...used, key }]);
    const third = await ledger.measure(aMeasure('c-2', { limits: [aLimit()] }), 2_000);
    expect(third).toEqual({
      limits: [{ ...standing, ...used, key, amount: '2000', isOver: true }],
      ...{ first: null, reserved: null },
    });
    // The period of the two is over.
    const later = await ledger.measure(aMeasure('c-2', { limits: [aLimit()] }), 86_401_000);
    expect(later.limits[0]).toMatchObject({ used: '0', reserved: '0', isOver: false });
  });

  it('counts a call again from the time at which its program receives it', async () => {
    const store = await (await make()).open();
    const bounds = { limits: [aLimit({ amount: '5000' })] };
    const first = await store.ledger.measure(aMeasure('c-1', bounds), 1_000);
    await start(store, 'c-1', [...(first.reserved ?? [])]);
    const later = 90_000_000;
    const renewal = aMeasure('c-1', bounds, { renews: true });
    const { reserved } = await store.ledger.measure(renewal, later);
    expect(reserved).toEqual([
      { kind: 'limit', name: 'refunds', key, amount: '5000', until: later + 86_400_000 },
    ]);
    const call = { callId: 'c-1', tool: 'refund', argsSha256: 'a'.repeat(64), at: later };
    const renewed = { type: 'started', ...call, entries: reserved ?? [], renews: true } as const;
    const write = aWrite(aTask({ id: 'task-c-1', revision: 2, requester }), { ledger: [renewed] });
    await store.save('task-c-1', () => write);
    const other = await store.ledger.measure(aMeasure('c-2', bounds), later + 1);
    expect(other).toMatchObject({ limits: [{ reserved: '5000', isOver: true }], reserved: null });
    await end(store, 'c-1', 'not_run', { revision: 3 });
    const free = await store.ledger.measure(aMeasure('c-2', bounds), later + 2);
    expect(free.limits).toMatchObject([{ used: '0', reserved: '0', isOver: false }]);
  });

  it('refuses the start of a call whose reservation was given back, and stores nothing of it', async () => {
    const place = await make();
    const store = await place.open();
    const { reserved } = await store.ledger.measure(aMeasure('c-1', { limits: [aLimit()] }), 1);
    store.ledger.forget('c-1');
    // A second measure comes after what was forgotten.
    await store.ledger.measure(aMeasure('c-2', { limits: [aLimit({ amount: '5000' })] }), 1);
    const refused = start(store, 'c-1', reserved ?? []);
    await expect(refused).rejects.toBeInstanceOf(UnreservedError);
    expect(await store.rows.find('task-c-1')).toBeUndefined();
    expect(await place.lines()).toEqual([]);
    const again = await store.ledger.measure(aMeasure('c-1', { limits: [aLimit()] }), 1);
    expect(again).toMatchObject({ limits: [{ reserved: '5000', isOver: true }], reserved: null });
  });

  it('counts a call until it is known not to have run, or a person states it', async () => {
    const place = await make();
    const store = await place.open();
    const { ledger } = store;
    const ends = ['succeeded', 'failed', 'not_run', 'unknown', 'unknown'] as const;
    for (const [n, outcome] of ends.entries()) {
      const limits = [aLimit({ amount: '0.1', max: '1' })];
      const { reserved } = await ledger.measure(aMeasure(`c-${n}`, { limits }), 1 + n);
      await start(store, `c-${n}`, reserved ?? []);
      await end(store, `c-${n}`, outcome);
    }
    const entry = (n: number) => ({
      ...{ kind: 'limit', name: 'refunds', key: '{"caller":"rita"}', amount: '0.1' },
      until: 86_400_001 + n,
    });
    const open = (n: number) => ({
      ...{ callId: `c-${n}`, taskId: `task-c-${n}`, tool: 'refund', argsSha256: 'a'.repeat(64) },
      ...{ at: 1_000, requester, entries: [entry(n)] },
    });
    expect(await ledger.standings([refunds], 9)).toEqual([
      { ...standing, used: '0.4', reserved: '0', key },
    ]);
    expect(await ledger.outcomes({ limit: 1 })).toEqual({
      outcomes: [open(4)],
      cursor: '1000-c-4',
    });
    expect(await ledger.outcomes({ limit: 1, cursor: '1000-c-4', isOpen: true })).toEqual({
      outcomes: [open(3)],
      cursor: null,
    });

    expect(await ledger.outcome('c-3')).toEqual(open(3));
    expect(await ledger.outcome('c-1')).toEqual({ ...open(1), at: expect.any(Number) });

    const ran = { ran: true, by: 'ann@example.com', reason: 'paid', at: 50 };
    const notRun = { ...ran, ran: false, reason: 'not paid' };
    expect([
      await ledger.settle('c-4', notRun, event),
      await ledger.settle('c-3', ran, event),
      await ledger.settle('c-1', notRun, event),
      await ledger.settle('c-1', ran, event),
      await ledger.settle('c-0', notRun, event),
      await ledger.settle('c-9', notRun, event),
    ]).toEqual([
      { ...open(4), settled: notRun },
      { ...open(3), settled: ran },
      { ...open(1), at: 50, settled: notRun },
      ...['settled', 'unknown', 'unknown'],
    ]);
    expect(await ledger.standings([refunds], 9)).toEqual([
      { ...standing, used: '0.2', reserved: '0', key },
    ]);
    const found = await Promise.all(['c-4', 'c-1', 'c-0', 'c-9'].map((id) => ledger.outcome(id)));
    expect(found).toEqual([
      { ...open(4), settled: notRun },
      { ...open(1), at: 50, settled: notRun },
      ...[undefined, undefined],
    ]);
    expect((await ledger.outcomes({ limit: 9, isOpen: true })).outcomes).toEqual([]);
    const settled = await ledger.outcomes({ limit: 9, isOpen: false });
    expect(settled.outcomes.map(({ callId }) => callId)).toEqual(['c-4', 'c-3', 'c-1']);
    const events = (await place.lines()).filter((line) => line.event === 'limit_settled');
    expect(events).toMatchObject(
      [open(4), open(3), open(1)].map(({ taskId, callId, argsSha256 }, n) => ({
        task_id: taskId,
        fields: {
          ...{ call_id: callId, tool: 'refund', args_sha256: argsSha256, ran: n === 1 },
          ...{ by: 'ann@example.com', reason: n === 1 ? 'paid' : 'not paid' },
          ...{ limits: [{ name: 'refunds', amount: 0.1 }], effects: [], method: 'runtime_token' },
        },
      })),
    );
    // The program reports later that the call did run.
    await end(store, 'c-4', 'succeeded', { revision: 3, wasUnknown: true });
    expect(await ledger.outcome('c-4')).toEqual({
      ...open(4),
      settled: { ...notRun, contradictedAt: 1_000 },
    });
    expect((await place.lines()).findLast((line) => line.event === 'limit_settled')).toMatchObject({
      task_id: 'task-c-4',
      fields: {
        ...{ call_id: 'c-4', ran: true, by: 'tool:refund', method: 'late_outcome' },
        reason: 'the call was reported as succeeded after the statement',
        contradicts: { ran: false, by: 'ann@example.com', at: '1970-01-01T00:00:00.050Z' },
        limits: [{ name: 'refunds', amount: 0.1 }],
      },
    });
    // A statement that the call ran is true, and one is contradicted once.
    await end(store, 'c-3', 'succeeded', { revision: 3, wasUnknown: true });
    await end(store, 'c-4', 'succeeded', { revision: 4, wasUnknown: true });
    const all = (await place.lines()).filter((line) => line.event === 'limit_settled');
    expect(all).toHaveLength(4);
    expect(await ledger.standings([refunds], 9)).toMatchObject([{ used: '0.3' }]);
    await store.close();
    expect(await (await place.open()).ledger.standings([refunds], 9)).toMatchObject([
      { used: '0.3', reserved: '0' },
    ]);
  });

  it('stores one of two statements of people on a call at the same time', async () => {
    const place = await make();
    const [one, other] = [await place.open(), await place.open()];
    await end(one, 'c-1', 'unknown', { revision: 1 });
    const statement = (ran: boolean) => ({ ran, by: 'ann@example.com', reason: 'r', at: 5 });
    const results = await Promise.all([
      one.ledger.settle('c-1', statement(true), event),
      one.ledger.settle('c-1', statement(false), event),
      other.ledger.settle('c-1', statement(true), event),
    ]);
    expect(results.filter((result) => result === 'settled')).toHaveLength(2);
    expect((await place.lines()).map((line) => line.event)).toEqual(['tool_exec', 'limit_settled']);
  });

  it('contradicts a statement by a success that is stored in the same commit', async () => {
    const place = await make();
    const store = await place.open();
    const { reserved } = await store.ledger.measure(aMeasure('c-1', { limits: [aLimit()] }), 1_000);
    await start(store, 'c-1', reserved ?? []);
    await end(store, 'c-1', 'unknown');
    const notRun = { ran: false, by: 'ann@example.com', reason: 'not paid', at: 50 };
    await Promise.all([
      store.ledger.settle('c-1', notRun, event),
      end(store, 'c-1', 'succeeded', { revision: 3, wasUnknown: true }),
    ]);
    const settled = { ...notRun, contradictedAt: 1_000 };
    expect((await store.ledger.outcome('c-1'))?.settled).toEqual(settled);
    const lines = (await place.lines()).filter((line) => line.event === 'limit_settled');
    expect(lines).toMatchObject([
      { fields: { ran: false, by: 'ann@example.com', method: 'runtime_token' } },
      { fields: { ran: true, by: 'tool:refund', method: 'late_outcome' } },
    ]);
    expect(await place.execute(`SELECT state FROM ledger WHERE kind = 'limit'`)).toEqual([
      { state: 'succeeded' },
    ]);
  });

  it('finds the newest call with the same effect while it runs, or may have run', async () => {
    const store = await (await make()).open();
    const { ledger } = store;
    const measure = (id: string, now: number, overrides = {}) =>
      ledger.measure(aMeasure(id, { effect: anEffect(overrides) }), now);
    const first = (callId: string, at: number, outcome: string) => ({
      ...{ key: 'refund:1', callId, taskId: `task-${callId}`, argsSha256: 'a'.repeat(64) },
      ...{ requester: { provider: 'sso', userId: 'rita' }, at, outcome },
    });
    const { reserved } = await measure('c-1', 10);
    expect(await measure('c-2', 11)).toEqual({
      ...{ limits: [], first: first('c-1', 10, 'running'), reserved: null },
    });
    await start(store, 'c-1', reserved ?? [], 'ann@example.com');
    await end(store, 'c-1', 'failed');
    const { reserved: second } = await measure('c-2', 12);
    await start(store, 'c-2', second ?? []);
    await end(store, 'c-2', 'unknown');
    expect(await measure('c-3', 13)).toMatchObject({ first: first('c-2', 12, 'unknown') });
    // Another name in the configuration and another key are no other effect, and another effect.
    expect(await measure('c-3', 13, { name: 'pay' })).toMatchObject({ first: { callId: 'c-2' } });
    expect(await measure('c-3', 13, { key: 'refund:2' })).toMatchObject({ first: null });
    expect(await measure('c-3', 13, { within: 1 })).toMatchObject({ first: null });
    ledger.forget('c-3');

    const repeat = aMeasure('c-4', { effect: anEffect() });
    const seen = { limits: [], first: 'c-2' };
    const released = await ledger.measure({ ...repeat, seen, approver: 'bo@example.com' }, 14);
    expect(released.reserved).toEqual([
      { kind: 'effect', name: 'refund', key: 'refund:1', until: null },
    ]);
    await start(store, 'c-4', released.reserved ?? []);
    // The approver of this one saw c-2, not c-4.
    const late = aMeasure('c-5', { effect: anEffect() }, { seen });
    expect(await ledger.measure(late, 15)).toEqual({
      limits: [],
      first: { ...first('c-4', 14, 'running'), approver: 'bo@example.com' },
      reserved: null,
    });
    const denied = aMeasure('c-5', { effect: anEffect({ repeat: 'deny' }) });
    const seesFourth = { limits: [], first: 'c-4' };
    expect(await ledger.measure({ ...denied, seen: seesFourth }, 15)).toMatchObject({
      reserved: null,
    });
  });

  it('finds a call that still runs after any time', async () => {
    const store = await (await make()).open();
    const measure = (id: string, now: number) =>
      store.ledger.measure(aMeasure(id, { effect: anEffect({ within: 1_000 }) }), now);
    const running = { callId: 'c-1', outcome: 'running' };
    const { reserved } = await measure('c-1', 0);
    expect(await measure('c-2', 5_000)).toMatchObject({ first: running, reserved: null });
    await start(store, 'c-1', reserved ?? []);
    expect(await measure('c-2', 5_000)).toMatchObject({ first: running, reserved: null });
    await end(store, 'c-1', 'succeeded');
    expect((await measure('c-2', 999)).first).toMatchObject({ outcome: 'succeeded' });
    expect((await measure('c-2', 5_000)).first).toBe(null);
  });

  it('releases a call over a limit only to an approver who saw that limit', async () => {
    const { ledger } = await (await make()).open();
    const over = aLimit({ amount: '6000' });
    const denied = aLimit({ name: 'denied', amount: '6000', over: null });
    const shadow = aLimit({ name: 'shadow', amount: '6000', isShadow: true });
    const odd = ['-1', '1e3', 'x', '', ' 1', '1'.repeat(41)];
    const measure = async (limits: readonly (typeof over)[], seen: readonly string[]) => {
      const known = limits.filter(({ name }) => seen.includes(name)).map(seenLimit);
      const bounds = aMeasure('c-1', { limits }, { seen: { limits: known, first: null } });
      const { reserved } = await ledger.measure(bounds, 1);
      return reserved?.map((entry) => ('amount' in entry ? entry.amount : '')) ?? null;
    };
    expect([
      await measure([over], []),
      await measure([over], ['others']),
      await measure([denied], ['denied']),
      await measure([over], ['refunds']),
      await measure([shadow], []),
      await measure([over, denied], ['refunds', 'denied']),
      await measure([aLimit({ amount: null })], []),
      await measure([aLimit({ amount: null })], ['refunds']),
      ...(await Promise.all(odd.map((amount) => measure([aLimit({ amount })], [])))),
    ]).toEqual([null, null, null, ['6000'], ['6000'], null, null, ['0'], ...odd.map(() => null)]);
  });

  it('adds exactly, and counts a call again that started before', async () => {
    const store = await (await make()).open();
    const max = '0.30000000000000000001';
    const measure = (id: string, amount: string) =>
      store.ledger.measure(aMeasure(id, { limits: [aLimit({ amount, max })] }), 1);
    const { reserved } = await measure('c-1', '0.1');
    await start(store, 'c-1', reserved ?? []);
    // After a restart its idempotent call is measured once more.
    expect(await measure('c-1', '0.1')).toMatchObject({ limits: [{ reserved: '0' }], reserved });
    const second = await measure('c-2', '0.2');
    expect(second.limits).toMatchObject([{ reserved: '0.1', isOver: false }]);
    const rest = '0.00000000000000000001';
    expect((await measure('c-3', rest)).limits).toMatchObject([{ reserved: '0.3', isOver: false }]);
    expect((await measure('c-4', rest)).limits).toMatchObject([{ reserved: max, isOver: true }]);
  });

  it('lists the keys of the newest calls of a limit, each once and with its newest requester', async () => {
    const place = await make();
    const store = await place.open();
    const { ledger } = store;
    const limitOf = (caller: string) =>
      aLimit({ key: JSON.stringify({ caller }), by: { caller }, amount: '1' });
    for (const [n, caller] of ['rita', 'omar', 'rita', 'tom'].entries()) {
      const asked = aMeasure(`c-${n}`, { limits: [limitOf(caller)] });
      const { reserved } = await ledger.measure(asked, 1_000 + n);
      await start(store, `c-${n}`, reserved ?? []);
    }
    const used = (caller: string, reserved: string) => ({ by: { caller }, used: '0', reserved });
    const [omar, rita, tom] = [used('omar', '1'), used('rita', '2'), used('tom', '1')];
    expect(await ledger.standings([refunds], 2_000)).toMatchObject([tom, rita, omar]);
    // The first two calls are before the period.
    const later = 86_400_000 + 1_001;
    const rest = [tom, used('rita', '1')];
    expect(await ledger.standings([refunds], later)).toMatchObject(rest);
    // More calls of one key come after those of all others.
    await place.execute(`WITH RECURSIVE numbers(n) AS (
        SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
      INSERT INTO ledger (kind, name, key, call_id, task_id, tool, args_sha256, requester, amount, at, until, state)
      SELECT 'limit', 'refunds', '{"caller":"eve"}', 'e-' || n, 't', 'refund', '', 'null', '0', 1500, 90000000, 'running'
      FROM numbers`);
    const standings = await ledger.standings([refunds], 2_000);
    expect(standings.map(({ by }) => by)).toEqual([{ caller: 'eve' }]);
  });

  it('deletes entries with their period, and others with their task', async () => {
    const place = await make();
    const store = await place.open();
    for (const [id, within] of [
      ['c-1', 5_000],
      ['c-2', null],
    ] as const) {
      const bounds = { limits: [aLimit({ amount: '1' })], effect: anEffect({ key: id, within }) };
      const { reserved } = await store.ledger.measure(aMeasure(id, bounds), 1_000);
      await start(store, id, reserved ?? []);
      await end(store, id, 'unknown');
      const task = { id: `task-${id}`, revision: 3, state: 'completed' } as const;
      await store.save(task.id, () => aWrite(aTask(task)));
    }
    const left = async () =>
      (await place.execute('SELECT kind, key, call_id FROM ledger')).map(({ kind, call_id: id }) =>
        [kind, id].join(' '),
      );
    expect(await store.deleteEnded(2_000)).toBe(2);
    const ended = ['effect c-1', 'limit c-1', 'limit c-2', 'outcome c-1', 'outcome c-2'];
    expect((await left()).toSorted()).toEqual(ended);
    const spare = 86_400_000;
    const settled = { ran: true, by: 'ann@example.com', reason: 'paid', at: 50 };
    await store.ledger.settle('c-1', settled, event);
    expect([
      await store.ledger.prune(spare + 5_999),
      await store.ledger.prune(spare + 6_000),
      await store.ledger.prune(2 * spare + 999),
      await store.ledger.prune(2 * spare + 1_000),
      await store.ledger.prune(2 * spare + 1_000),
      await store.ledger.prune(2 * spare + 1_000),
    ]).toEqual([0, 1, 0, 2, 2, 0]);
    expect(await left()).toEqual([]);
    // An earlier release deletes a task and leaves its entries.
    await end(store, 'c-3', 'unknown', { revision: 1 });
    await place.execute("DELETE FROM tasks WHERE id = 'task-c-3'");
    expect([await store.ledger.prune(1), await store.ledger.prune(1)]).toEqual([1, 0]);
    expect(await left()).toEqual([]);
  });

  it('keeps an effect after its time until its call ends, and a person settles its outcome', async () => {
    const store = await (await make()).open();
    for (const id of ['c-1', 'c-2', 'c-3']) {
      const effect = anEffect({ key: id, within: 5_000 });
      const { reserved } = await store.ledger.measure(aMeasure(id, { effect }), 1_000);
      await start(store, id, reserved ?? []);
    }
    await end(store, 'c-2', 'unknown');
    await end(store, 'c-3', 'succeeded');
    const later = 10 * 86_400_000;
    expect([await store.ledger.prune(later), await store.ledger.prune(later)]).toEqual([1, 0]);
    const effect = anEffect({ key: 'c-1', within: 5_000 });
    const repeat = await store.ledger.measure(aMeasure('c-4', { effect }), later);
    expect(repeat.first).toMatchObject({ callId: 'c-1', outcome: 'running' });
    const settled = { ran: false, by: 'ann@example.com', reason: 'not paid', at: 50 };
    const entries = [{ kind: 'effect', name: 'refund', key: 'c-2', until: 6_000 }];
    expect(await store.ledger.settle('c-2', settled, event)).toMatchObject({ entries });
    await end(store, 'c-1', 'succeeded');
    expect([await store.ledger.prune(later), await store.ledger.prune(later)]).toEqual([2, 0]);
  });

  it('gives calls that run nowhere an unknown outcome, which a person settles', async () => {
    const place = await make();
    const store = await place.open();
    const { ledger } = store;
    for (const id of ['c-1', 'c-2', 'c-3', 'c-4', 'c-5']) {
      const bounds = { limits: [aLimit({ amount: '1' })], effect: anEffect({ key: id }) };
      const { reserved } = await ledger.measure(aMeasure(id, bounds), 1_000);
      await start(store, id, reserved ?? []);
    }
    await end(store, 'c-4', 'succeeded');
    // A release without a ledger ended c-1, and deleted the task of c-5; c-2 runs, and the program of c-3 does.
    await place.execute(
      `UPDATE tasks SET state = 'failed', started_call = NULL WHERE id = 'task-c-1'`,
    );
    await place.execute(`UPDATE tasks SET started_call = 'c-2' WHERE id = 'task-c-2'`);
    await place.execute(
      `UPDATE tasks SET state = 'completed', deadline_at = 9 WHERE id = 'task-c-3'`,
    );
    await place.execute(`DELETE FROM tasks WHERE id = 'task-c-5'`);
    while (await ledger.recover(7_000));
    const open = (await ledger.outcomes({ limit: 9, isOpen: true })).outcomes;
    expect(open.map(({ callId, at, entries }) => [callId, at, entries.length])).toEqual([
      ['c-5', 7_000, 2],
      ['c-1', 7_000, 2],
    ]);
    expect(await ledger.standings([refunds], 2_000)).toMatchObject([{ used: '3', reserved: '2' }]);
    const settled = { ran: false, by: 'ann@example.com', reason: 'not paid', at: 50 };
    expect(await ledger.settle('c-1', settled, event)).toMatchObject({ callId: 'c-1', requester });
    while (await ledger.recover(8_000));
    expect(await ledger.standings([refunds], 2_000)).toMatchObject([{ used: '2', reserved: '2' }]);
    expect(await ledger.outcomes({ limit: 9, isOpen: true })).toMatchObject({
      outcomes: [{ callId: 'c-5' }],
    });
  });

  it('lets a person settle a call without its task as long as it counts', async () => {
    const place = await make();
    const store = await place.open();
    const { ledger } = store;
    for (const id of ['c-1', 'c-2']) {
      const bounds = { limits: [aLimit({ amount: '1' })], effect: anEffect({ key: id }) };
      const { reserved } = await ledger.measure(aMeasure(id, bounds), 1_000);
      await start(store, id, reserved ?? []);
      await end(store, id, 'unknown');
    }
    const task = { id: 'task-c-1', revision: 3, state: 'completed' } as const;
    await store.save(task.id, () => aWrite(aTask(task)));
    expect(await store.deleteEnded(2_000)).toBe(1);
    // An earlier release deletes a task and leaves its entries: an effect and a started call.
    await place.execute("DELETE FROM tasks WHERE id = 'task-c-2'");
    expect(await ledger.prune(2_000)).toBe(2);
    const open = async () => (await ledger.outcomes({ limit: 9, isOpen: true })).outcomes;
    expect((await open()).map(({ callId }) => callId)).toEqual(['c-2', 'c-1']);
    const settled = { ran: false, by: 'ann@example.com', reason: 'not paid', at: 50 };
    for (const callId of ['c-1', 'c-2']) {
      const entries = [{ kind: 'limit', amount: '1' }];
      expect(await ledger.settle(callId, settled, event)).toMatchObject({ callId, entries });
    }
    expect(await open()).toEqual([]);
    expect(await ledger.standings([refunds], 2_000)).toMatchObject([{ used: '0', reserved: '0' }]);
    expect(await ledger.prune(2_000)).toBe(0);
  });

  it('counts a limit as exceeded in the period in which the store was restored', async () => {
    const place = await make();
    await (await place.open()).close();
    await place.execute(`INSERT INTO ledger
      (kind, name, key, call_id, task_id, tool, args_sha256, requester, amount, at, state)
      VALUES ('restored', '', '', '', '', '', '', 'null', '', 5000, 'settled')`);
    const { ledger } = await place.open();
    const asked = aMeasure('c-1', { limits: [aLimit()] });
    const period = 86_400_000;
    const over = [
      await ledger.measure(asked, 6_000),
      await ledger.measure(asked, 4_999 + period),
      await ledger.measure(asked, 5_000 + period),
    ];
    expect(over.map(({ limits }) => limits[0]?.isOver)).toEqual([true, true, false]);
  });
});
