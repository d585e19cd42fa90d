import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type ChangedQuery,
  largestPage,
  mostCounted,
  type TaskFilter,
} from '../../../../src/actors/records/store/task-listing.ts';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import { type Message, type Task, taskStates } from '../../../../src/machines/task/task.ts';
import type { TaskScope } from '../../../../src/machines/task/task-access.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

let directory: string;
let store: TaskStore;

beforeEach(async () => {
  directory = temporaryFolder();
  store = await openStore(directory);
});
afterEach(() => store.close());

function keep(...tasks: Task[]): void {
  for (const task of tasks) void store.save(task.id, () => aWrite(task));
  expect(store.flush()).toBeNull();
}

const idsOf = (tasks: Task[]): string[] => tasks.map(({ id }) => id);

function saying(text: string): Message[] {
  return [{ role: 'user', parts: [{ kind: 'text', text }], messageId: 'm-1' }];
}

/** Ids of every page of a list, page by page. */
function pagesOf(query: Omit<ChangedQuery, 'cursor'>): string[][] {
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const page = store.rows.listing.changed({ ...query, ...(cursor === null ? {} : { cursor }) });
    pages.push(idsOf(page.tasks));
    ({ cursor } = page);
  } while (cursor !== null);
  return pages;
}

describe('tasks in the order of their changes', () => {
  const present = fc.option(fc.nat(3), { nil: undefined });

  it('come page by page, each once, by every filter', () => {
    const tasks = fc
      .uniqueArray(
        fc.record({
          id: fc.nat(60).map((number) => `t-${number}`),
          state: fc.constantFrom(...taskStates),
          contextId: fc.nat(3).map(String),
          changedAt: fc.nat(3),
        }),
        { selector: ({ id }) => id, maxLength: 25 },
      )
      .map((list) => list.map((task) => aTask({ revision: 1, ...task })));
    const asked = fc.record({
      state: fc.option(fc.constantFrom(...taskStates), { nil: undefined }),
      contextId: present.map((number) => number?.toString()),
      changedAfter: present,
    });
    const database = new DatabaseSync(storeFiles(directory).path);
    onTestFinished(() => database.close());
    fc.assert(
      fc.property(tasks, asked, fc.integer({ min: 1, max: 9 }), (kept, wanted, limit) => {
        database.exec('DELETE FROM tasks');
        keep(...kept);
        const filter = Object.fromEntries(
          Object.entries(wanted).filter(([, value]) => value !== undefined),
        ) as TaskFilter;
        const { state, contextId, changedAfter = 0 } = filter;
        const expected = kept
          .toReversed()
          .filter((task) => state === undefined || task.state === state)
          .filter((task) => contextId === undefined || task.contextId === contextId)
          .filter((task) => task.changedAt >= changedAfter)
          .toSorted((one, other) => other.changedAt - one.changedAt);
        const pages = pagesOf({ ...filter, limit });
        expect(pages.flat()).toEqual(idsOf(expected));
        expect(pages.every((page) => page.length <= limit)).toBe(true);
        expect(store.rows.listing.total(filter)).toBe(expected.length);
      }),
      { numRuns: 60 },
    );
  });

  it('show each task that did not change meanwhile, whatever becomes of the others', () => {
    keep(...['a', 'b', 'c', 'd'].map((id, at) => aTask({ id, changedAt: at })));
    const first = store.rows.listing.changed({ limit: 1 });
    keep(aTask({ id: 'c', revision: 2, changedAt: 9 }), aTask({ id: 'e', changedAt: 9 }));
    const rest = store.rows.listing.changed({ limit: 9, cursor: first.cursor! });
    expect([idsOf(first.tasks), idsOf(rest.tasks), rest.cursor]).toEqual([['d'], ['b', 'a'], null]);
  });

  it('are counted up to a bound', () => {
    const database = new DatabaseSync(storeFiles(directory).path);
    keep(aTask({ id: 't', contextId: 'many' }));
    database.exec(`INSERT INTO tasks
      (id, context_id, state, revision, changed_at, machine_version, audit_seq, task)
      SELECT 'n' || value, context_id, state, 1, 1, 1, 1, task
      FROM tasks, json_each('[${Array.from({ length: mostCounted + 5 }, (_, n) => n).join()}]')`);
    database.close();
    expect(store.rows.listing.total({ contextId: 'many' })).toBe(mostCounted);
    expect(store.rows.listing.total({ contextId: 'many', changedAfter: 1_000 })).toBe(1);
  });
});

describe('a page', () => {
  const large = 'x'.repeat(1_000_000);

  it('ends at 4 MiB, and the next one goes on from there', () => {
    keep(...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => aTask({ id, text: large })));
    const first = store.rows.listing.made({ limit: 500 });
    const second = store.rows.listing.made({ limit: 500, cursor: first.cursor! });
    expect([idsOf(first.tasks), idsOf(second.tasks), second.cursor]).toEqual([
      ['f', 'e', 'd', 'c'],
      ['b', 'a'],
      null,
    ]);
    expect(pagesOf({ limit: 500 })).toEqual([
      ['f', 'e', 'd', 'c'],
      ['b', 'a'],
    ]);
  });

  it('holds one task at least, however large it is', () => {
    const text = 'x'.repeat(largestPage);
    keep(aTask({ id: 'small' }), aTask({ id: 'large', text }));
    const first = store.rows.listing.made({ limit: 9 });
    expect([idsOf(first.tasks), first.tasks[0]?.text?.length]).toEqual([['large'], largestPage]);
    expect(idsOf(store.rows.listing.made({ limit: 9, cursor: first.cursor! }).tasks)).toEqual([
      'small',
    ]);
  });

  it('leaves room for the ids that a surface repeats, however they are written in JSON', () => {
    // As JSON twice as long as it is.
    const contextId = '"'.repeat(20_000);
    keep(...Array.from({ length: 60 }, (_, at) => aTask({ id: `t-${at}`, contextId })));
    const { tasks, cursor } = store.rows.listing.made({ limit: 60 });
    const shown = (some: Task[]) => some.map((task) => ({ ...task, status: { contextId } }));
    const length = Buffer.byteLength(JSON.stringify(shown(tasks)));
    expect(cursor).not.toBeNull();
    expect(length).toBeLessThanOrEqual(largestPage);
    expect(length).toBeGreaterThan(largestPage * 0.95);
  });

  it('leaves room for what a surface says beside each message', () => {
    const history = Array.from({ length: 200 }, () => saying('')[0]!);
    keep(...Array.from({ length: 90 }, (_, at) => aTask({ id: `t-${at}`, history })));
    const { tasks, cursor } = store.rows.listing.made({ limit: 90, withContents: true });
    const around = { contextId: 'context-1', taskId: 't-10', kind: 'message', metadata: {} };
    const shown = tasks.map((task) => ({
      ...task,
      history: task.history.map((message) => ({ ...message, ...around, at: 'x'.repeat(150) })),
    }));
    expect(cursor).not.toBeNull();
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(largestPage);
  });

  it('counts what was said only where it is shown', () => {
    const said = { history: saying(large), answer: [{ kind: 'text', text: large } as const] };
    keep(...['a', 'b', 'c'].map((id) => aTask({ id, ...said })));
    const brief = store.rows.listing.made({ limit: 9 });
    expect(brief).toEqual({
      tasks: ['c', 'b', 'a'].map((id) => aTask({ id })),
      cursor: null,
    });
    const whole = store.rows.listing.made({ limit: 9, withContents: true });
    expect(whole).toEqual({
      tasks: ['c', 'b'].map((id) => aTask({ id, ...said })),
      cursor: expect.stringMatching(/./),
    });
  });
});

describe('the plan of a statement', () => {
  /** The plans of what a function asks of the database, each line of them. */
  function plansOf(ask: () => void): string[] {
    const spy = vi.spyOn(DatabaseSync.prototype, 'prepare');
    onTestFinished(() => spy.mockRestore());
    ask();
    const statements = spy.mock.calls.map(([sql]) => sql);
    spy.mockRestore();
    const database = new DatabaseSync(storeFiles(directory).path);
    const plans = statements
      .filter((sql) => /\btasks\b/.test(sql) && !sql.startsWith('EXPLAIN'))
      .flatMap((sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all())
      .map(({ detail }) => String(detail));
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

  it.each(filters)('of a list and of a count goes along an index in its order: %o', (filter) => {
    const plans = plansOf(() => {
      for (const page of pages) store.rows.listing.changed({ ...filter, ...page });
      store.rows.listing.total(filter);
    });
    const isFirst = (plan: string) => !plan.startsWith('CO-ROUTINE') && !plan.includes('subquery');
    expect(plans.filter(isFirst)).toHaveLength(3);
    for (const plan of plans.filter(isFirst)) {
      expect(plan).toMatch(/^SEARCH tasks USING (COVERING )?INDEX tasks_by_\w*change \(/);
    }
  });

  const scopes: TaskScope[] = [
    { kind: 'organisation', orgId: 'acme' },
    { kind: 'own', owner: { provider: 'p', userId: 'u', orgId: 'acme' }, email: 'a@x.example' },
  ];

  it.each(scopes)('passes over what its caller may not know of in that index: $kind', (scope) => {
    const plans = plansOf(() => {
      for (const filter of filters) {
        store.rows.listing.changed({ ...filter, limit: 5, cursor: '5-5' }, scope);
        store.rows.listing.total(filter, scope);
      }
      store.rows.listing.made({ limit: 5, cursor: '5' }, scope);
      store.rows.listing.made({ limit: 5, cursor: '5', state: 'deferred' }, scope);
    });
    const reads = plans.filter((plan) => /\btasks\b/.test(plan));
    expect(reads.length).toBeGreaterThanOrEqual(6);
    for (const plan of reads) {
      expect(plan).toMatch(/^SEARCH tasks USING (COVERING )?INDEX tasks_by_\w+ \(/);
    }
    expect(plans.filter((plan) => plan.includes('B-TREE'))).toEqual([]);
  });

  it.each([{}, { state: 'deferred' } as const])('of the newest tasks as well: %o', (filter) => {
    const plans = plansOf(() => {
      for (const { cursor, ...page } of pages) {
        store.rows.listing.made({ ...filter, ...page, ...(cursor && { cursor: '5' }) });
      }
    });
    expect(plans).toHaveLength(2);
    for (const plan of plans) {
      expect(plan).toMatch(
        /^SEARCH tasks USING (INDEX tasks_by_state|INTEGER PRIMARY KEY) \(.*(rowid|position)<\?\)$/,
      );
    }
  });

  it('reads all tasks for nothing but their census', async () => {
    const spy = vi.spyOn(DatabaseSync.prototype, 'prepare');
    onTestFinished(() => spy.mockRestore());
    (await openStore(directory)).close();
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
    expect(scanning).toEqual(['SELECT state, count(*) AS tasks FROM tasks GROUP BY state']);
  });
});
