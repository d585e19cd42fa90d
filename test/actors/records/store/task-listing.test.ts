import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type ChangedQuery,
  largestPage,
  mostCounted,
  type TaskFilter,
  type TaskQuery,
} from '../../../../src/actors/records/store/task-page.ts';
import type { Decider } from '../../../../src/actors/records/store/task-rows.ts';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import {
  type DecidedCall,
  type Message,
  type Task,
  taskStates,
} from '../../../../src/machines/domain/task.ts';
import { keepTasks } from '../../../helpers/keep-tasks.ts';
import { kindsOfStores, type StorePlace } from '../../../helpers/kinds-of-stores.ts';
import { runs } from '../../../helpers/runs.ts';
import { aParkedTask, aTask } from '../../../helpers/stored-tasks.ts';

describe.each(kindsOfStores)('$kind', ({ make }) => {
  let place: StorePlace;
  let store: TaskStore;

  beforeEach(async () => {
    place = await make();
    store = await place.open();
  });

  const keep = (...tasks: Task[]): Promise<void> => keepTasks(store, tasks);

  const idsOf = (tasks: Task[]): string[] => tasks.map(({ id }) => id);

  function saying(text: string): Message[] {
    return [{ role: 'user', parts: [{ kind: 'text', text }], messageId: 'm-1' }];
  }

  /** Ids of every page of a list, page by page. */
  async function pagesOf(query: Omit<ChangedQuery, 'cursor'>): Promise<string[][]> {
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const page = await store.rows.listing.changed({
        ...query,
        ...(cursor === null ? {} : { cursor }),
      });
      pages.push(idsOf(page.tasks));
      ({ cursor } = page);
    } while (cursor !== null);
    return pages;
  }

  describe('tasks created in a range', () => {
    const hour = 3_600_000;

    async function created(query: Omit<TaskQuery, 'limit'>, limit = 50): Promise<string[][]> {
      const pages: string[][] = [];
      let cursor: string | null = null;
      do {
        const page = await store.rows.listing.made({
          ...{ ...query, limit },
          ...(cursor === null ? {} : { cursor }),
        });
        pages.push(idsOf(page.tasks));
        ({ cursor } = page);
      } while (cursor !== null);
      return pages;
    }

    beforeEach(async () => {
      // Two commits may be in another order than the times of their tasks.
      const times = [1, 2, 3, 4, 5, 6].map((number) => number * hour).with(3, 4 * hour + 2_000);
      const tasks = times.map((createdAt, index) =>
        aTask({
          ...{ id: `t-${index + 1}`, createdAt, changedAt: 99 * hour },
          state: index % 2 === 0 ? 'completed' : 'failed',
          text: '"createdAt":1',
        }),
      );
      await keep(...tasks.toSpliced(4, 0, aTask({ id: 't-late', createdAt: 4 * hour })));
    });

    it('are listed newest first, page by page, both ends included', async () => {
      expect(await created({ from: 2 * hour, to: 5 * hour }, 2)).toEqual([
        ['t-5', 't-late'],
        ['t-4', 't-3'],
        ['t-2'],
      ]);
      expect(await created({ from: 4 * hour + 1 })).toEqual([['t-6', 't-5', 't-4']]);
      expect(await created({ to: 4 * hour })).toEqual([['t-late', 't-3', 't-2', 't-1']]);
      expect(await created({ from: 7 * hour })).toEqual([[]]);
      expect(await created({ from: 4 * hour, to: 6 * hour, state: 'failed' })).toEqual([
        ['t-6', 't-4'],
      ]);
    });

    it('include an unreadable one by its place', async () => {
      await place.execute(`UPDATE tasks SET task = 'torn' WHERE id = 't-2'`);
      expect(await created({ from: hour, to: 3 * hour })).toEqual([['t-3', 't-2', 't-1']]);
    });

    it('are empty in an empty store', async () => {
      await place.execute('DELETE FROM tasks');
      expect(await created({ from: 0, to: hour })).toEqual([[]]);
    });
  });

  it('the tasks that a person decided are listed, by identity or email, newest first', async () => {
    const ann = { provider: 'sso', userId: 'ann', email: 'Ann@example.com' };
    const inChat = { provider: 'chat', userId: 'slack:T1/U1', email: 'ann@example.com' };
    const bob = { provider: 'sso', userId: 'bob' };
    const decided = (...by: DecidedCall['by']): DecidedCall[] => [
      {
        ...{ id: 'call-1', tool: 'pay', argsSha256: '', approver: 'ann', note: '', decidedAt: 1 },
        ...{ decision: 'approve', by },
      },
    ];
    await keep(
      aTask({ id: 'by-ann', decided: decided(ann) }),
      aTask({ id: 'by-both', decided: decided(bob, inChat) }),
      aTask({ id: 'by-none' }),
      aTask({ id: 'by-somebody', decided: decided(null) }),
    );
    await keep(aTask({ id: 'by-ann', revision: 2, decided: decided(ann) }));
    const { listing } = store.rows;
    const found = async (by: Decider) => idsOf((await listing.decided(by, { limit: 9 })).tasks);
    expect(await found(ann)).toEqual(['by-both', 'by-ann']);
    expect(await found({ provider: 'sso', userId: 'ann' })).toEqual(['by-ann']);
    expect(await found(bob)).toEqual(['by-both']);
    expect(await found(null)).toEqual(['by-somebody']);
    const { tasks, cursor } = await listing.decided(ann, { limit: 1 });
    const rest = await listing.decided(ann, { limit: 1, cursor: cursor ?? '' });
    expect([idsOf(tasks), idsOf(rest.tasks), rest.cursor]).toEqual([['by-both'], ['by-ann'], null]);
  });

  describe('tasks in the order of their changes', () => {
    const present = fc.option(fc.nat(3), { nil: undefined });

    it('are listed page by page, each once, by every filter', async () => {
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
      await fc.assert(
        fc.asyncProperty(
          tasks,
          asked,
          fc.integer({ min: 1, max: 9 }),
          async (kept, wanted, limit) => {
            await place.execute('DELETE FROM tasks');
            await keep(...kept);
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
            const pages = await pagesOf({ ...filter, limit });
            expect(pages.flat()).toEqual(idsOf(expected));
            expect(pages.every((page) => page.length <= limit)).toBe(true);
            expect(await store.rows.listing.total(filter)).toBe(expected.length);
          },
        ),
        { numRuns: runs(60) },
      );
    });

    it('include each unchanged task, with any changes of the others', async () => {
      await keep(...['a', 'b', 'c', 'd'].map((id, at) => aTask({ id, changedAt: at })));
      const first = await store.rows.listing.changed({ limit: 1 });
      await keep(aTask({ id: 'c', revision: 2, changedAt: 9 }), aTask({ id: 'e', changedAt: 9 }));
      const rest = await store.rows.listing.changed({ limit: 9, cursor: first.cursor! });
      expect([idsOf(first.tasks), idsOf(rest.tasks), rest.cursor]).toEqual([
        ['d'],
        ['b', 'a'],
        null,
      ]);
    });

    it('are counted up to a limit', async () => {
      await keep(aTask({ id: 't', contextId: 'many' }));
      await place.execute(`WITH RECURSIVE numbers (n) AS (
        SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${mostCounted + 5}
      ) INSERT INTO tasks (id, context_id, state, revision, changed_at, machine_version, audit_seq,
        task, owner_org, owner)
      SELECT 'n' || n, context_id, state, 1, 1, 1, 1, task, '', '' FROM tasks, numbers`);
      expect(await store.rows.listing.total({ contextId: 'many' })).toBe(mostCounted);
      expect(await store.rows.listing.total({ contextId: 'many', changedAfter: 1_000 })).toBe(1);
    });
  });

  describe('a page', () => {
    const large = 'x'.repeat(1_000_000);

    it('ends at 4 MiB, and the next one continues there', async () => {
      await keep(...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => aTask({ id, text: large })));
      const first = await store.rows.listing.made({ limit: 500 });
      const second = await store.rows.listing.made({ limit: 500, cursor: first.cursor! });
      expect([idsOf(first.tasks), idsOf(second.tasks), second.cursor]).toEqual([
        ['f', 'e', 'd', 'c'],
        ['b', 'a'],
        null,
      ]);
      expect(await pagesOf({ limit: 500 })).toEqual([
        ['f', 'e', 'd', 'c'],
        ['b', 'a'],
      ]);
    });

    it('contains at least one task, however large it is', async () => {
      const text = 'x'.repeat(largestPage);
      await keep(aTask({ id: 'small' }), aTask({ id: 'large', text }));
      const first = await store.rows.listing.made({ limit: 9 });
      expect([idsOf(first.tasks), first.tasks[0]?.text?.length]).toEqual([['large'], largestPage]);
      expect(
        idsOf((await store.rows.listing.made({ limit: 9, cursor: first.cursor! })).tasks),
      ).toEqual(['small']);
    });

    it('leaves room for the ids that a response repeats, in any JSON encoding', async () => {
      // As JSON twice as long as it is.
      const contextId = '"'.repeat(20_000);
      await keep(...Array.from({ length: 60 }, (_, at) => aTask({ id: `t-${at}`, contextId })));
      const { tasks, cursor } = await store.rows.listing.made({ limit: 60 });
      const shown = (some: Task[]) => some.map((task) => ({ ...task, status: { contextId } }));
      const length = Buffer.byteLength(JSON.stringify(shown(tasks)));
      expect(cursor).not.toBeNull();
      expect(length).toBeLessThanOrEqual(largestPage);
      expect(length).toBeGreaterThan(largestPage * 0.95);
    });

    it('leaves room for what a response adds to each message', async () => {
      const history = Array.from({ length: 200 }, () => saying('')[0]!);
      await keep(...Array.from({ length: 90 }, (_, at) => aTask({ id: `t-${at}`, history })));
      const { tasks, cursor } = await store.rows.listing.made({ limit: 90, withContents: true });
      const around = { contextId: 'context-1', taskId: 't-10', kind: 'message', metadata: {} };
      const shown = tasks.map((task) => ({
        ...task,
        history: task.history.map((message) => ({ ...message, ...around, at: 'x'.repeat(150) })),
      }));
      expect(cursor).not.toBeNull();
      expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(largestPage);
    });

    it('counts messages only where they are shown', async () => {
      const said = { history: saying(large), answer: [{ kind: 'text', text: large } as const] };
      await keep(...['a', 'b', 'c'].map((id) => aTask({ id, ...said })));
      const brief = await store.rows.listing.made({ limit: 9 });
      expect(brief).toEqual({
        tasks: ['c', 'b', 'a'].map((id) => aTask({ id })),
        cursor: null,
      });
      const whole = await store.rows.listing.made({ limit: 9, withContents: true });
      expect(whole).toEqual({
        tasks: ['c', 'b'].map((id) => aTask({ id, ...said })),
        cursor: expect.stringMatching(/./),
      });
    });
  });

  it('a list has the titles of held tasks, and of no other task', async () => {
    const history = saying('please\n pay');
    const held = { ...aParkedTask('held', 300_000), history };
    await keep(held, aTask({ id: 'working', history }));
    const brief = { history: [], answer: null };
    const [working, first] = (await store.rows.listing.made({ limit: 2 })).tasks;
    expect(first).toEqual({ ...held, ...brief, title: 'please pay' });
    expect(working).toEqual({ ...aTask({ id: 'working' }), ...brief });
    expect((await store.rows.listing.waiting({ limit: 2 })).tasks).toEqual([first]);
    expect((await store.rows.read('held'))?.task).toEqual(held);
    const whole = await store.rows.listing.made({ limit: 2, withContents: true });
    expect(whole.tasks[1]).toEqual(held);
  });
});
