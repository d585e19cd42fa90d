import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import type { Task } from '../../../../src/machines/domain/task.ts';
import { keepTasks } from '../../../helpers/keep-tasks.ts';
import { kindsOfStores, type StorePlace } from '../../../helpers/kinds-of-stores.ts';
import { aPushTarget } from '../../../helpers/push-target.ts';
import { aTask } from '../../../helpers/stored-tasks.ts';

describe.each(kindsOfStores)('$kind', ({ make }) => {
  let place: StorePlace;
  let store: TaskStore;

  beforeEach(async () => {
    place = await make();
    store = await place.open();
  });

  const keep = (...tasks: Task[]): Promise<void> => keepTasks(store, tasks);

  describe('the receivers of push notifications in the store', () => {
    it('are returned as stored, by task and id, and no others', async () => {
      const [b, a, other] = [
        aPushTarget({ id: 'b' }),
        aPushTarget({ id: 'a', authentication: null, version: '0.3' }),
        aPushTarget({ taskId: 't-2' }),
      ];
      for (const target of [b, a, other]) await store.push.put(target, 0);
      expect({
        list: await store.push.list('t-1'),
        found: await store.push.find('t-1', 'b'),
        missing: [await store.push.find('t-1', 'c'), await store.push.find('t-3', 'a')],
        none: await store.push.list('t-3'),
      }).toEqual({ list: [a, b], found: b, missing: [undefined, undefined], none: [] });
    });

    it('keep the position of the receiver that they replace', async () => {
      const first = await store.push.put(aPushTarget(), 2);
      const changed = aPushTarget({ url: 'https://other.example.test/' });
      const second = await store.push.put(changed, 5);
      expect([first, second, await store.push.list('t-1'), await store.push.open()]).toEqual([
        null,
        2,
        [changed],
        [{ target: changed, told: 2 }],
      ]);
      await store.push.keepTold(changed, 7, true);
      expect(await store.push.put(changed, 7)).toBeNull();
    });

    it('without the end of their task are listed with their position', async () => {
      const [one, two] = [aPushTarget({ id: 'one' }), aPushTarget({ id: 'two' })];
      await store.push.put(one, 0);
      await store.push.put(two, 0);
      await store.push.keepTold(one, 3, false);
      await store.push.keepTold(two, 4, true);
      expect(await store.push.open()).toEqual([{ target: one, told: 3 }]);
      expect(await store.push.list('t-1')).toEqual([one, two]);
    });

    it('with one end of their task are listed after it has run again', async () => {
      const [behind, told] = [aPushTarget(), aPushTarget({ taskId: 't-2' })];
      for (const target of [behind, told]) {
        await keep(aTask({ id: target.taskId, state: 'completed', revision: 1 }));
        await store.push.put(target, 0);
        await store.push.keepTold(target, 1, true);
      }
      await keep(aTask({ state: 'working', revision: 2 }));
      expect(await store.push.open()).toEqual([{ target: behind, told: 1 }]);
      expect([await store.push.put(behind, 2), await store.push.put(told, 1)]).toEqual([1, null]);
    });

    it('report whether a deletion removed one', async () => {
      await store.push.put(aPushTarget(), 0);
      expect([
        await store.push.delete('t-1', 'other'),
        await store.push.delete('t-1', 'a'),
        await store.push.delete('t-1', 'a'),
        await store.push.list('t-1'),
      ]).toEqual([false, true, false, []]);
    });

    it('survive a restart', async () => {
      const target = aPushTarget();
      await store.push.put(target, 7);
      await store.close();
      store = await place.open();
      expect(await store.push.open()).toEqual([{ target, told: 7 }]);
    });

    it('are deleted with their task', async () => {
      const kept = aPushTarget({ taskId: 't-2' });
      await keep(
        aTask({ id: 't-1', state: 'completed', changedAt: 1 }),
        aTask({ id: 't-2', changedAt: 1 }),
      );
      await store.push.put(aPushTarget({ taskId: 't-1' }), 1);
      await store.push.put(kept, 1);
      expect(await store.deleteEnded(2)).toBe(1);
      expect([await store.push.list('t-1'), await store.push.list('t-2')]).toEqual([[], [kept]]);
    });

    it('of a task that was never created are deleted', async () => {
      const kept = aPushTarget();
      await keep(aTask({ id: 't-1' }));
      await store.push.put(kept, 0);
      await store.push.put(aPushTarget({ taskId: 'never' }), 0);
      await store.push.deleteOrphans();
      expect([await store.push.list('t-1'), await store.push.list('never')]).toEqual([[kept], []]);
    });
  });
});
