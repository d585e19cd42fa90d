import { expect, it } from 'vitest';
import { isFinal, isStanding, shownState, taskStates } from '../../../src/machines/domain/task.ts';

it('a task runs until it ends or waits for a person', () => {
  expect(taskStates.map((state) => [state, isStanding({ state }), isFinal(state)])).toEqual([
    ['submitted', false, false],
    ['working', false, false],
    ['deferred', true, false],
    ['completed', true, true],
    ['failed', true, true],
    ['canceled', true, true],
  ]);
});

it('a task whose call waits at another program is shown as deferred and returned to waiting requests', () => {
  const task = { state: 'working', waits: { at: 'bank', for: 'channel:console:desk' } } as const;
  expect([shownState(task), isStanding(task)]).toEqual(['deferred', true]);
});
