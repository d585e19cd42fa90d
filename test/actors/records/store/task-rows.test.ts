import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import type { Deferral, Task, TaskState } from '../../../../src/machines/domain/task.ts';
import { taskMachineVersion } from '../../../../src/machines/task/snapshot-steps.ts';
import { keepTasks } from '../../../helpers/keep-tasks.ts';
import { kindsOfStores, type StorePlace } from '../../../helpers/kinds-of-stores.ts';
import { aParkedTask, aTask, aWrite } from '../../../helpers/stored-tasks.ts';

describe.each(kindsOfStores)('$kind', ({ kind, make }) => {
  let place: StorePlace;
  let store: TaskStore;

  beforeEach(async () => {
    place = await make();
    store = await place.open();
  });

  const keep = (...tasks: Task[]): Promise<void> => keepTasks(store, tasks);

  const idsOf = (tasks: Task[]): string[] => tasks.map(({ id }) => id);

  describe('reading a task', () => {
    it('returns all stored fields, and nothing for an unknown id', async () => {
      const task = aParkedTask('t-1', 5_000);
      const extra = { machineVersion: 7, auditSeq: 9, startedCall: 'call-1' };
      void store.save('t-1', () => aWrite(task, { ...extra, snapshot: { value: 'deferred' } }));
      await store.flush();
      expect(await store.rows.read('t-1')).toEqual({
        task,
        snapshot: { value: 'deferred' },
        ...extra,
      });
      expect(await store.rows.find('t-1')).toEqual(task);
      expect(await store.rows.findByDeferral('t-1-d')).toEqual(task);
      expect([
        await store.rows.read('no'),
        await store.rows.find('no'),
        await store.rows.findByDeferral('no'),
      ]).toEqual([undefined, undefined, undefined]);
    });

    it('returns the newest tasks of a session without their messages', async () => {
      const ofSession = { contextId: 's', requester: { provider: 'idp', userId: 'ann' } };
      const tasks = [1, 2, 3].map((at) =>
        aTask({
          ...ofSession,
          id: `t-${at}`,
          changedAt: at,
          answer: [{ kind: 'text', text: 'a' }],
        }),
      );
      await keep(...tasks, aTask({ contextId: 's', id: 'of-nobody' }));
      const owner = { ...ofSession.requester, orgId: '' };
      const briefs = await store.rows.sessions.briefsOf('s', owner, 2);
      const [, second, third] = tasks.map((task) => ({ ...task, history: [], answer: null }));
      expect(briefs).toEqual([third, second]);
    });

    it('stores no snapshot of a final task, and drops its deferral and its deadline', async () => {
      await keep(aParkedTask('t-1', 5_000));
      const ended = aTask({ state: 'completed', revision: 2 });
      void store.save('t-1', () => aWrite(ended, { snapshot: null }));
      await store.flush();
      expect(await store.rows.read('t-1')).toEqual({
        task: ended,
        snapshot: null,
        machineVersion: taskMachineVersion,
        auditSeq: 2,
        startedCall: null,
      });
      expect(await store.rows.findByDeferral('t-1-d')).toBeUndefined();
      expect([await store.rows.overdue(9_000), await store.rows.nextDeadline(0)]).toEqual([
        [],
        null,
      ]);
    });
  });

  describe('listing tasks', () => {
    it('pages from the newest to the oldest without a gap, during any changes', async () => {
      await keep(...['a', 'b', 'c', 'd', 'e'].map((id) => aTask({ id })));
      const first = await store.rows.listing.made({ limit: 2 });
      await keep(aTask({ id: 'c', revision: 2, state: 'completed' }), aTask({ id: 'f' }));
      const second = await store.rows.listing.made({ limit: 2, cursor: first.cursor! });
      const third = await store.rows.listing.made({ limit: 2, cursor: second.cursor! });
      expect([first, second, third].map(({ tasks }) => idsOf(tasks))).toEqual([
        ['e', 'd'],
        ['c', 'b'],
        ['a'],
      ]);
      expect(third.cursor).toBeNull();
    });

    it('has no cursor when the page is the last and exactly full', async () => {
      await keep(aTask({ id: 'a' }), aTask({ id: 'b' }));
      expect(await store.rows.listing.made({ limit: 2 })).toMatchObject({ cursor: null });
      expect((await store.rows.listing.made({ limit: 1 })).cursor).not.toBeNull();
    });

    it('can be limited to one state', async () => {
      const states: TaskState[] = ['completed', 'working', 'completed', 'failed', 'completed'];
      await keep(...states.map((state, index) => aTask({ id: `t-${index}`, state })));
      const first = await store.rows.listing.made({ state: 'completed', limit: 2 });
      const second = await store.rows.listing.made({
        state: 'completed',
        limit: 2,
        cursor: first.cursor!,
      });
      expect([idsOf(first.tasks), idsOf(second.tasks), second.cursor]).toEqual([
        ['t-4', 't-2'],
        ['t-0'],
        null,
      ]);
      expect(await store.rows.count('completed')).toBe(3);
    });

    it('keeps the place of a task that runs again', async () => {
      await keep(aTask({ id: 'a', state: 'completed' }), aTask({ id: 'b' }));
      await keep(aTask({ id: 'a', revision: 2 }));
      expect(idsOf((await store.rows.listing.made({ limit: 9 })).tasks)).toEqual(['b', 'a']);
    });
  });

  describe('the queries of a restart and the scheduler', () => {
    beforeEach(async () => {
      await keep(
        aTask({ id: 'at-work' }),
        aTask({ id: 'submitted', state: 'submitted' }),
        aParkedTask('late', 9_000),
        aParkedTask('soon', 2_000),
        aParkedTask('next', 3_000),
        aTask({ id: 'ended', state: 'failed' }),
      );
    });

    it('return running and parked tasks, oldest first', async () => {
      expect(await store.rows.working()).toEqual(['at-work', 'submitted']);
      expect(await store.rows.parked()).toEqual(['late', 'soon', 'next']);
    });

    it('return what rulings were made from, once each, and the calls of the others', async () => {
      const ruled = (id: string, policySha256: string) => {
        const task = aParkedTask(id, 5_000);
        const { id: callId = '', argsSha256 = '' } = task.deferral ?? {};
        const call = { ...{ id: callId, tool: 'pay', argsSha256 }, policySha256, offered: 'o' };
        const deferral = { ...task.deferral, runsSha256: 'r' } as Deferral;
        const snapshot = { value: 'deferred', context: { pending: [call] } };
        return store.save(id, () => aWrite({ ...task, deferral }, { snapshot }));
      };
      const all = [ruled('one', 'p'), ruled('two', 'q'), ruled('three', 'p')];
      await store.flush();
      await Promise.all(all);
      const made = (policySha256: string) =>
        JSON.stringify({
          ...{ policySha256, tool: 'pay', offered: 'o', runsSha256: 'r', isElsewhere: false },
        });
      const found = [
        (await store.rows.rulings()).toSorted(),
        await store.rows.parked([made('p')]),
        await store.rows.parked([made('p'), made('q')]),
      ];
      const others = ['late', 'soon', 'next'];
      const everyOne = [...others, 'one', 'two', 'three'];
      expect(found).toEqual(
        kind === 'SQLite'
          ? [[made('p'), made('q')], [...others, 'two'], others]
          : [[], everyOne, everyOne],
      );
    });

    it('return overdue tasks, to the millisecond, and the first deadline after a time', async () => {
      expect(await store.rows.overdue(1_999)).toEqual([]);
      expect(await store.rows.overdue(2_000)).toEqual(['soon']);
      expect(await store.rows.overdue(9_000)).toEqual(['soon', 'next', 'late']);
      expect(
        await Promise.all([0, 2_000, 2_999, 3_000, 9_000].map((at) => store.rows.nextDeadline(at))),
      ).toEqual([2_000, 3_000, 3_000, 9_000, null]);
    });
  });

  describe('deleting ended tasks', () => {
    it('removes final ones that ended before a time', async () => {
      await keep(
        ...(['completed', 'failed', 'canceled', 'working', 'completed'] as const).map(
          (state, index) => aTask({ id: `t-${index}`, state, changedAt: index }),
        ),
        aParkedTask('parked', 5),
      );
      expect([await store.deleteEnded(3), await store.deleteEnded(3)]).toEqual([3, 0]);
      expect(idsOf((await store.rows.listing.made({ limit: 9 })).tasks)).toEqual([
        'parked',
        't-4',
        't-3',
      ]);
      expect(await store.deleteEnded(5)).toBe(1);
      expect(await store.rows.find('t-4')).toBeUndefined();
    });
  });
});
