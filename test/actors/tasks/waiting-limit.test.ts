import { describe, expect, it } from 'vitest';
import { WaitingLimit } from '../../../src/actors/tasks/waiting-limit.ts';
import type { Task } from '../../../src/machines/domain/task.ts';
import { aPolicy } from '../../helpers/a-policy.ts';
import { onePolicy } from '../../helpers/one-policy.ts';
import { aCall, aDeferRule, toolRules } from '../../helpers/task-fixtures.ts';

/** A limit of calls, with the tasks that are committed as waiting and those that have an actor. */
function limitOf(most: number) {
  const lists = { read: 0 };
  const committed = new Set<string>();
  const live = new Set(['t1', 't2', 't3']);
  const limit = new WaitingLimit({
    rows: {
      countWaiting: async () => committed.size,
      waitingOf: async () => {
        lists.read += 1;
        return [...committed];
      },
    },
    policies: onePolicy(
      aPolicy({
        rulesFor: ({ tool }) => toolRules({ defer: tool === 'pay' ? aDeferRule() : null }),
      }),
      null,
      most,
    ),
    isLive: (id) => live.has(id),
  });
  const isAdmitted = async (id: string, ...tools: string[]) => {
    const calls = tools.map((tool) => aCall({ tool }));
    const admitted = await limit.admit({ id, requester: null }, calls);
    return admitted.every(({ refused }) => refused === undefined);
  };
  const goes = (id: string, from: Task['state'], to: Task['state']) =>
    limit.changed({ id, requester: null, state: to } as Task, { state: from } as Task);
  return { committed, lists, live, isAdmitted, goes };
}

const limitOfOne = () => limitOf(1);

describe('the limit of waiting calls', () => {
  it('counts a call after a slow one during the slow one', async () => {
    const { isAdmitted, goes } = limitOfOne();
    expect(await isAdmitted('t1', 'look_up', 'pay')).toBe(true);
    goes('t1', 'working', 'working');
    expect(await isAdmitted('t2', 'pay')).toBe(false);
    goes('t1', 'working', 'failed');
    expect(await isAdmitted('t2', 'pay')).toBe(true);
  });

  it('counts the second call of a turn while the first one runs', async () => {
    const { isAdmitted, goes } = limitOfOne();
    expect(await isAdmitted('t1', 'pay', 'pay')).toBe(true);
    goes('t1', 'deferred', 'working');
    expect(await isAdmitted('t2', 'pay')).toBe(false);
    goes('t1', 'deferred', 'working');
    expect(await isAdmitted('t2', 'pay')).toBe(true);
  });

  it('counts no call of an ended turn, nor of a task of another daemon', async () => {
    const { isAdmitted, live } = limitOfOne();
    expect(await isAdmitted('t1', 'pay')).toBe(true);
    expect(await isAdmitted('t1', 'look_up')).toBe(true);
    expect(await isAdmitted('t2', 'pay')).toBe(true);
    live.delete('t2');
    expect(await isAdmitted('t3', 'pay')).toBe(true);
  });

  it('admits one of two concurrent calls with one place left', async () => {
    for (const most of [1, 3]) {
      const { committed, isAdmitted } = limitOf(most);
      for (let waiting = 1; waiting < most; waiting += 1) committed.add(`waiting-${waiting}`);
      const admitted = await Promise.all([isAdmitted('t1', 'pay'), isAdmitted('t2', 'pay')]);
      expect(admitted).toEqual([true, false]);
    }
  });

  it('reads no list of waiting tasks while the limit is far away', async () => {
    const { committed, isAdmitted, lists } = limitOf(6);
    committed.add('other').add('another');
    expect(await isAdmitted('t1', 'pay')).toBe(true);
    expect(lists.read).toBe(0);
    expect(await isAdmitted('t2', 'pay')).toBe(true);
    expect(await isAdmitted('t3', 'pay')).toBe(true);
    expect(lists.read).toBe(1);
  });
});
