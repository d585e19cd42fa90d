import { expect, it, vi } from 'vitest';
import { postgresPlace } from '../../../helpers/kinds-of-stores.ts';

it('the tasks of a context are read by index, however many their owner has', async () => {
  const place = await postgresPlace();
  const { database, rows } = await place.open();
  await place.execute(`INSERT INTO tasks (id, state, revision, changed_at, machine_version, audit_seq, task,
      context_id, owner_org, owner)
    SELECT 't-' || n, 'completed', 1, n, 1, 1, '{}', 'c-' || n, '', '' FROM generate_series(1, 20000) AS n`);
  const query = vi.spyOn(database, 'query');
  expect((await rows.sessions.briefsOf('c-7', null, 20)).length).toBe(1);
  await rows.sessions.firstOf('c-7', null);
  await rows.sessions.contextsOf(null, 5);
  const plans = await Promise.all(
    query.mock.calls.map(async ([text, values]) => {
      const plan = await database.query(`EXPLAIN ${text}`, values);
      return plan.map((row) => String(row['QUERY PLAN'])).join('\n');
    }),
  );
  expect(plans.map((plan) => plan.includes('tasks_by_context_change'))).toEqual([true, true, true]);
  expect(plans.slice(0, 2).filter((plan) => plan.includes('tasks_by_owner_change'))).toEqual([]);
});
