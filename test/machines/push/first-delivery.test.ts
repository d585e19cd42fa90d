import { describe, expect, it } from 'vitest';
import type { Task } from '../../../src/machines/domain/task.ts';
import { firstDelivery, type StoredReceiver } from '../../../src/machines/push/first-delivery.ts';

type Outcome = ReturnType<typeof firstDelivery>;

const at = (state: Task['state'], revision: number) => ({ state, revision });

const [here, aside] = [{ isDelivering: true }, { isDelivering: false }];
const running = { since: 2, task: at('deferred', 2) };
const ended = { since: 2, task: at('completed', 2) };
const endedMeanwhile = { since: 2, task: at('failed', 3) };

describe('a receiver that was just stored', () => {
  it.each<[string, Partial<StoredReceiver>, Outcome]>([
    ['without a task gets each change', { ...here }, { after: 0 }],
    ['of a running task gets later changes', { ...here, ...running }, { after: 2 }],
    [
      'of a running task keeps waiting changes',
      { ...here, ...running, hadWaiting: true },
      { after: 0 },
    ],
    [
      'of a running task that replaces another gets later changes',
      { ...here, ...running, before: 1 },
      { after: 2 },
    ],
    ['of an ended task gets nothing', { ...here, ...ended }, 'over'],
    [
      'of an ended task keeps waiting changes',
      { ...here, ...ended, hadWaiting: true },
      { after: 0 },
    ],
    ['gets the end that the replaced one lacks', { ...here, ...ended, before: 1 }, { after: 0 }],
    ['gets no end that the replaced one has', { ...here, ...ended, before: 2 }, 'over'],
    [
      'gets no end that is not yet stored as delivered',
      { ...here, ...ended, before: 1, delivered: 2 },
      'over',
    ],
    ['without a task is left to the delivering daemon', { ...aside }, 'elsewhere'],
    ['of a running task is left to the delivering daemon', { ...aside, ...running }, 'elsewhere'],
    [
      'of a running task leaves waiting changes to that daemon',
      { ...aside, ...running, hadWaiting: true },
      'elsewhere',
    ],
    ['of an ended task gets nothing from any daemon', { ...aside, ...ended }, 'over'],
    [
      'gets from this daemon an end that the delivering daemon may have seen earlier',
      { ...aside, ...endedMeanwhile },
      { after: 2 },
    ],
    [
      'gets from the delivering daemon the end that the replaced one lacks',
      { ...aside, ...ended, before: 1 },
      'elsewhere',
    ],
    [
      'gets from the delivering daemon a new end that the replaced one lacks',
      { ...aside, ...endedMeanwhile, before: 2 },
      'elsewhere',
    ],
  ])('%s', (_, receiver, outcome) => {
    const usual = { isDelivering: true, since: 0, task: undefined, before: null };
    expect(firstDelivery({ ...usual, delivered: 0, hadWaiting: false, ...receiver })).toEqual(
      outcome,
    );
  });
});
