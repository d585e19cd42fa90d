import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import type { Task } from '../../../../src/machines/task/task.ts';
import { aPushTarget } from '../../../helpers/push-target.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, temporaryFolder } from '../../../helpers/test-system.ts';

let folder: string;
let store: TaskStore;

beforeEach(async () => {
  folder = temporaryFolder();
  store = await openStore(folder);
});
afterEach(() => store.close());

function keep(...tasks: Task[]): void {
  for (const task of tasks) void store.save(task.id, () => aWrite(task));
  expect(store.flush()).toBeNull();
}

describe('the receivers of push notifications in the store', () => {
  it('returns all that was kept, by task and id, and nothing else', () => {
    const [b, a, other] = [
      aPushTarget({ id: 'b' }),
      aPushTarget({ id: 'a', authentication: null, version: '0.3' }),
      aPushTarget({ taskId: 't-2' }),
    ];
    for (const target of [b, a, other]) store.push.put(target, 0);
    expect({
      list: store.push.list('t-1'),
      found: store.push.find('t-1', 'b'),
      missing: [store.push.find('t-1', 'c'), store.push.find('t-3', 'a')],
      none: store.push.list('t-3'),
    }).toEqual({ list: [a, b], found: b, missing: [undefined, undefined], none: [] });
  });

  it('keeps one in the place of another, which leaves it as far behind as that one was', () => {
    store.push.put(aPushTarget(), 2);
    const changed = aPushTarget({ url: 'https://other.example.test/' });
    store.push.put(changed, 5);
    expect([store.push.list('t-1'), store.push.open()]).toEqual([
      [changed],
      [{ target: changed, told: 2 }],
    ]);
  });

  it('lists those who do not know the end of their task, and how far they are', () => {
    const [one, two] = [aPushTarget({ id: 'one' }), aPushTarget({ id: 'two' })];
    store.push.put(one, 0);
    store.push.put(two, 0);
    store.push.keepTold(one, 3, false);
    store.push.keepTold(two, 4, true);
    expect(store.push.open()).toEqual([{ target: one, told: 3 }]);
    expect(store.push.list('t-1')).toEqual([one, two]);
  });

  it('tells whether there was one to delete', () => {
    store.push.put(aPushTarget(), 0);
    expect([
      store.push.delete('t-1', 'other'),
      store.push.delete('t-1', 'a'),
      store.push.delete('t-1', 'a'),
      store.push.list('t-1'),
    ]).toEqual([false, true, false, []]);
  });

  it('survives a restart', async () => {
    const target = aPushTarget();
    store.push.put(target, 7);
    store.close();
    store = await openStore(folder);
    expect(store.push.open()).toEqual([{ target, told: 7 }]);
  });

  it('forgets them with the task that they were told of', () => {
    const kept = aPushTarget({ taskId: 't-2' });
    keep(
      aTask({ id: 't-1', state: 'completed', changedAt: 1 }),
      aTask({ id: 't-2', changedAt: 1 }),
    );
    store.push.put(aPushTarget({ taskId: 't-1' }), 1);
    store.push.put(kept, 1);
    expect(store.deleteEnded(2)).toBe(1);
    expect([store.push.list('t-1'), store.push.list('t-2')]).toEqual([[], [kept]]);
  });

  it('forgets those whose task never came to be', () => {
    const kept = aPushTarget();
    keep(aTask({ id: 't-1' }));
    store.push.put(kept, 0);
    store.push.put(aPushTarget({ taskId: 'never' }), 0);
    store.push.deleteOrphans();
    expect([store.push.list('t-1'), store.push.list('never')]).toEqual([[kept], []]);
  });
});
