import { expect, it, vi } from 'vitest';
import { UnreservedError } from '../../../../src/actors/records/store/task-store.ts';
import { postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { aLimit, aMeasure, anEffect, end, start } from '../../../helpers/measured-calls.ts';

it('three daemons let together as many calls run as a limit has room for', async () => {
  const place = await postgresPlace();
  const stores = await Promise.all([place.open(), place.open(), place.open()]);
  const runs = stores.flatMap((store, daemon) =>
    Array.from({ length: 20 }, async (_, n) => {
      const id = `c-${daemon}-${n}`;
      const bounds = { limits: [aLimit()], effect: anEffect({ key: `e-${n % 4}` }) };
      const { reserved } = await store.ledger.measure(aMeasure(id, bounds), 1_000 + n);
      if (reserved === null) return [];
      await start(store, id, reserved);
      return [n % 4];
    }),
  );
  const ran = (await Promise.all(runs)).flat();
  expect([ran.length, new Set(ran).size]).toEqual([2, 2]);
});

it('a reservation that ended is not started, and one of a killed daemon counts no more', async () => {
  const place = await postgresPlace();
  const [first, second] = [await place.open(), await place.open()];
  const measure = (store: typeof first, id: string) =>
    store.ledger.measure(aMeasure(id, { limits: [aLimit({ amount: '5000' })] }), 1_000);
  const { reserved } = await measure(first, 'c-1');
  expect(await measure(second, 'c-2')).toMatchObject({ reserved: null });
  // 45 seconds later by the clock of the server.
  await place.execute('UPDATE ledger SET ends_at = 0');
  expect((await measure(second, 'c-2')).reserved).toHaveLength(1);
  const late = start(first, 'c-1', reserved ?? []);
  await expect(late).rejects.toBeInstanceOf(UnreservedError);
  expect(await place.execute('SELECT call_id, state FROM ledger')).toEqual([
    { call_id: 'c-2', state: 'pending' },
  ]);
});

it('a daemon that takes a task over ends what another one started', async () => {
  const place = await postgresPlace();
  const [first, second] = [await place.open(), await place.open()];
  const limits = [aLimit({ amount: '5000' })];
  const { reserved } = await first.ledger.measure(aMeasure('c-1', { limits }), 1_000);
  await start(first, 'c-1', reserved ?? []);
  await end(second, 'c-1', 'not_run');
  const { limits: measured } = await second.ledger.measure(aMeasure('c-2', { limits }), 1_000);
  expect(measured).toMatchObject([{ used: '0', reserved: '0', isOver: false }]);
});

it('stored sums of ended calls count them all, also once one changes or their period ends', async () => {
  const place = await postgresPlace();
  const { ledger } = await place.open();
  await place.execute(`INSERT INTO ledger
    (kind, name, key, call_id, task_id, tool, args_sha256, requester, amount, at, until, state)
    SELECT 'limit', 'refunds', '{"caller":"rita"}', 'e-' || n, 't', 'refund', '', 'null', '0.1', n, n + 86400000,
      CASE WHEN n % 2 = 0 THEN 'succeeded' ELSE 'failed' END FROM generate_series(1, 1100) AS n`);
  const used = async (now: number) => {
    const asked = aMeasure('c-1', { limits: [aLimit()] }, { reserves: false });
    return (await ledger.measure(asked, now)).limits[0]?.used;
  };
  const sums = () => place.execute('SELECT calls, used::text FROM ledger_sums ORDER BY id');
  expect(await used(2_000)).toBe('110');
  const whole = { calls: 250, used: '25.0' };
  await vi.waitFor(async () => expect(await sums()).toEqual([whole, whole, whole, whole]));
  // The period begins within the second sum.
  expect([await used(2_000), await used(86_400_000 + 300)]).toEqual(['110', '80']);
  const settled = { ran: false, by: 'ann@example.com', reason: 'not paid', at: 50 };
  await ledger.settle('e-301', settled, { ts: '2026-07-01T09:00:00.000Z' });
  expect(await sums()).toEqual([whole, { calls: 249, used: '24.9' }, whole, whole]);
  expect(await used(2_000)).toBe('109.9');
  expect(await ledger.prune(2 * 86_400_000 + 750)).toBe(750);
  expect([await used(2_000), await sums()]).toEqual(['35', [whole]]);
});
