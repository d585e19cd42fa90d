import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { keepTasks } from '../../../helpers/keep-tasks.ts';
import { postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { aTask } from '../../../helpers/stored-tasks.ts';
import { aDeferral } from '../../../helpers/task-fixtures.ts';

it('an ended wait finds its notices by index, however many there are', async () => {
  const place = await postgresPlace();
  const store = await place.open();
  await place.execute(`INSERT INTO approval_notices
      (task_id, deferral_id, adapter, target, asked, requested_at, expires_at)
    SELECT 'o-' || n, 'o-' || n, 'slack', 'a', '{}', 1, 1 FROM generate_series(1, 20000) AS n`);
  await keepTasks(store, [aTask({ state: 'deferred', stage: 'asked', deferral: aDeferral() })]);
  const query = vi.spyOn(pg.Client.prototype, 'query');
  await keepTasks(store, [aTask({ revision: 2, state: 'canceled' })]);
  const sent = query.mock.calls as unknown as [{ text: string; values: unknown[] }][];
  query.mockRestore();
  const plans = sent
    .filter(([{ text }]) => text.startsWith('UPDATE approval_notices'))
    .map(async ([{ text, values }]) => {
      const plan = await store.database.query(`EXPLAIN ${text}`, values);
      return plan.map((row) => String(row['QUERY PLAN'])).join('\n');
    });
  const scans = (await Promise.all(plans)).map((plan) => plan.includes('Seq Scan'));
  expect(scans).toEqual([false]);
});
