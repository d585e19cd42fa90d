import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import type { Task, TaskState } from '../../../../src/machines/task/task.ts';
import { taskMachineVersion } from '../../../../src/machines/task/task-machine.ts';
import { aParkedTask, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, temporaryFolder } from '../../../helpers/test-system.ts';

let store: TaskStore;

beforeEach(async () => {
  store = await openStore(temporaryFolder());
});
afterEach(() => store.close());

function keep(...tasks: Task[]): void {
  for (const task of tasks) void store.save(task.id, () => aWrite(task));
  expect(store.flush()).toBeNull();
}

const idsOf = (tasks: Task[]): string[] => tasks.map(({ id }) => id);

describe('reading a task', () => {
  it('returns all that was written, and nothing for an unknown id', () => {
    const task = aParkedTask('t-1', 5_000);
    const extra = { machineVersion: 7, auditSeq: 9, startedCall: 'call-1' };
    void store.save('t-1', () => aWrite(task, { ...extra, snapshot: '{"value":"deferred"}' }));
    store.flush();
    expect(store.rows.read('t-1')).toEqual({ task, snapshot: { value: 'deferred' }, ...extra });
    expect(store.rows.find('t-1')).toEqual(task);
    expect(store.rows.findByDeferral('t-1-d')).toEqual(task);
    expect([store.rows.read('no'), store.rows.find('no'), store.rows.findByDeferral('no')]).toEqual(
      [undefined, undefined, undefined],
    );
  });

  it('keeps no snapshot of a final task, and forgets its deferral and its deadline', () => {
    keep(aParkedTask('t-1', 5_000));
    const ended = aTask({ state: 'completed', revision: 2 });
    void store.save('t-1', () => aWrite(ended, { snapshot: null }));
    store.flush();
    expect(store.rows.read('t-1')).toEqual({
      task: ended,
      snapshot: null,
      machineVersion: taskMachineVersion,
      auditSeq: 2,
      startedCall: null,
    });
    expect(store.rows.findByDeferral('t-1-d')).toBeUndefined();
    expect([store.rows.overdue(9_000), store.rows.nextDeadline(0)]).toEqual([[], null]);
  });
});

describe('listing tasks', () => {
  it('pages from the newest to the oldest without a gap, whatever changes in between', () => {
    keep(...['a', 'b', 'c', 'd', 'e'].map((id) => aTask({ id })));
    const first = store.rows.listing.made({ limit: 2 });
    keep(aTask({ id: 'c', revision: 2, state: 'completed' }), aTask({ id: 'f' }));
    const second = store.rows.listing.made({ limit: 2, cursor: first.cursor! });
    const third = store.rows.listing.made({ limit: 2, cursor: second.cursor! });
    expect([first, second, third].map(({ tasks }) => idsOf(tasks))).toEqual([
      ['e', 'd'],
      ['c', 'b'],
      ['a'],
    ]);
    expect(third.cursor).toBeNull();
  });

  it('has no cursor when the page is the last and exactly full', () => {
    keep(aTask({ id: 'a' }), aTask({ id: 'b' }));
    expect(store.rows.listing.made({ limit: 2 })).toMatchObject({ cursor: null });
    expect(store.rows.listing.made({ limit: 1 }).cursor).not.toBeNull();
  });

  it('lists one state alone', () => {
    const states: TaskState[] = ['completed', 'working', 'completed', 'failed', 'completed'];
    keep(...states.map((state, index) => aTask({ id: `t-${index}`, state })));
    const first = store.rows.listing.made({ state: 'completed', limit: 2 });
    const second = store.rows.listing.made({ state: 'completed', limit: 2, cursor: first.cursor! });
    expect([idsOf(first.tasks), idsOf(second.tasks), second.cursor]).toEqual([
      ['t-4', 't-2'],
      ['t-0'],
      null,
    ]);
    expect(store.rows.count('completed')).toBe(3);
  });

  it('keeps the place of a task that runs again', () => {
    keep(aTask({ id: 'a', state: 'completed' }), aTask({ id: 'b' }));
    keep(aTask({ id: 'a', revision: 2 }));
    expect(idsOf(store.rows.listing.made({ limit: 9 }).tasks)).toEqual(['b', 'a']);
  });
});

describe('what a restart and the scheduler ask', () => {
  beforeEach(() => {
    keep(
      aTask({ id: 'at-work' }),
      aTask({ id: 'submitted', state: 'submitted' }),
      aParkedTask('late', 9_000),
      aParkedTask('soon', 2_000),
      aParkedTask('next', 3_000),
      aTask({ id: 'ended', state: 'failed' }),
    );
  });

  it('tells what is at work and what is parked, oldest first', () => {
    expect(store.rows.working()).toEqual(['at-work', 'submitted']);
    expect(store.rows.parked()).toEqual(['late', 'soon', 'next']);
  });

  it('tells what is overdue, at its very millisecond, and the first deadline after a time', () => {
    expect(store.rows.overdue(1_999)).toEqual([]);
    expect(store.rows.overdue(2_000)).toEqual(['soon']);
    expect(store.rows.overdue(9_000)).toEqual(['soon', 'next', 'late']);
    expect([0, 2_000, 2_999, 3_000, 9_000].map((at) => store.rows.nextDeadline(at))).toEqual([
      2_000,
      3_000,
      3_000,
      9_000,
      null,
    ]);
  });
});

describe('deleting tasks that ended', () => {
  it('takes final ones that ended before a time, a bounded number at once', () => {
    keep(
      ...(['completed', 'failed', 'canceled', 'working', 'completed'] as const).map(
        (state, index) => aTask({ id: `t-${index}`, state, changedAt: index }),
      ),
      aParkedTask('parked', 5),
    );
    expect(store.rows.deleteEnded(3, 2)).toBe(2);
    expect(store.rows.deleteEnded(3, 2)).toBe(1);
    expect(store.rows.deleteEnded(3, 2)).toBe(0);
    expect(idsOf(store.rows.listing.made({ limit: 9 }).tasks)).toEqual(['parked', 't-4', 't-3']);
    expect(store.deleteEnded(5)).toBe(1);
    expect(store.rows.find('t-4')).toBeUndefined();
  });
});
