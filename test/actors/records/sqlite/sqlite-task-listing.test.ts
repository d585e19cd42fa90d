import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import type { TaskFilter } from '../../../../src/actors/records/store/task-page.ts';
import type { TaskScope } from '../../../../src/machines/task/task-access.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

let directory: string;
let store: SqliteStore;

beforeEach(async () => {
  directory = temporaryFolder();
  store = await openStore(directory);
});
afterEach(() => store.close());

describe('the query plan', () => {
  /** The plans of what a function asks of the database, each line of them. */
  async function plansOf(ask: () => Promise<void>): Promise<string[]> {
    const spy = vi.spyOn(DatabaseSync.prototype, 'prepare');
    onTestFinished(() => spy.mockRestore());
    await ask();
    const statements = spy.mock.calls.map(([sql]) => sql);
    spy.mockRestore();
    const database = new DatabaseSync(storeFiles(directory).path);
    const plans = statements
      .filter((sql) => /\btasks\b/.test(sql) && !sql.startsWith('EXPLAIN'))
      .flatMap((sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all())
      .map(({ detail }) => String(detail))
      // The shared values of a row are found by their key.
      .filter((plan) => !/SCALAR SUBQUERY|task_values USING INDEX .*\(task_id=\?\)/.test(plan));
    database.close();
    return plans;
  }

  const filters = [{}, { state: 'completed' } as const].flatMap((state) =>
    [{}, { contextId: 'c' }].flatMap((context) =>
      [{}, { changedAfter: 5 }].map((after): TaskFilter => ({ ...state, ...context, ...after })),
    ),
  );
  const pages = [{}, { cursor: '5-5' }].flatMap((cursor) =>
    [{}, { withContents: true }].map((contents) => ({ limit: 5, ...cursor, ...contents })),
  );

  it.each(filters)('of a list and of a count uses an index in its order: %o', async (filter) => {
    const plans = await plansOf(async () => {
      for (const page of pages) await store.rows.listing.changed({ ...filter, ...page });
      await store.rows.listing.total(filter);
    });
    const isFirst = (plan: string) => !plan.startsWith('CO-ROUTINE') && !plan.includes('subquery');
    expect(plans.filter(isFirst)).toHaveLength(3);
    for (const plan of plans.filter(isFirst)) {
      expect(plan).toMatch(/^SEARCH tasks USING (COVERING )?INDEX tasks_by_\w*change \(/);
    }
  });

  const scopes: TaskScope[] = [
    { kind: 'organisation', orgId: 'acme' },
    {
      kind: 'own',
      owner: { provider: 'p', userId: 'u', orgId: 'acme' },
      listedAs: ['a@x.example'],
    },
  ];

  it.each(scopes)('skips tasks that the caller may not see in that index: $kind', async (scope) => {
    const plans = await plansOf(async () => {
      for (const filter of filters) {
        await store.rows.listing.changed({ ...filter, limit: 5, cursor: '5-5' }, scope);
        await store.rows.listing.total(filter, scope);
      }
      await store.rows.listing.made({ limit: 5, cursor: '5' }, scope);
      await store.rows.listing.made({ limit: 5, cursor: '5', state: 'deferred' }, scope);
    });
    const reads = plans.filter((plan) => /\btasks\b/.test(plan));
    expect(reads.length).toBeGreaterThanOrEqual(6);
    for (const plan of reads) {
      expect(plan).toMatch(/^SEARCH tasks USING (COVERING )?INDEX tasks_by_\w+ \(/);
    }
    expect(plans.filter((plan) => plan.includes('B-TREE'))).toEqual([]);
  });

  it('of deferred tasks uses an index for each kind of wait', async () => {
    const plans = await plansOf(async () => {
      await store.rows.listing.made({ limit: 5, state: 'deferred' });
      await store.rows.listing.changed({ limit: 5, state: 'deferred' });
    });
    const reads = plans.filter((plan) => /\btasks\b/.test(plan));
    expect(reads).toHaveLength(4);
    for (const plan of reads) expect(plan).toMatch(/^SEARCH tasks USING INDEX tasks_by_\w+ \(/);
    expect(plans.filter((plan) => plan.includes('B-TREE'))).toEqual([]);
  });

  it.each([{}, { state: 'parked' } as const])('of the newest tasks as well: %o', async (filter) => {
    const plans = await plansOf(async () => {
      for (const { cursor, ...page } of pages) {
        await store.rows.listing.made({ ...filter, ...page, ...(cursor && { cursor: '5' }) });
      }
    });
    expect(plans).toHaveLength(2);
    for (const plan of plans) {
      expect(plan).toMatch(
        /^SEARCH tasks USING (INDEX tasks_by_state|INTEGER PRIMARY KEY) \(.*(rowid|position)<\?\)$/,
      );
    }
  });

  it('reads all tasks for no statement of an open store', async () => {
    const spy = vi.spyOn(DatabaseSync.prototype, 'prepare');
    onTestFinished(() => spy.mockRestore());
    await (await openStore(directory)).close();
    const statements = spy.mock.calls.map(([sql]) => sql);
    spy.mockRestore();
    const database = new DatabaseSync(storeFiles(directory).path);
    const scanning = statements.filter((sql) =>
      database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .some(({ detail }) =>
          /^SCAN tasks(?! USING INDEX tasks_by_(deadline|deferral))/.test(String(detail)),
        ),
    );
    database.close();
    expect(scanning).toEqual([]);
  });
});
