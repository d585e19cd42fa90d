import { expect, it } from 'vitest';
import { sharedDuties } from '../../../src/actors/tasks/shared-duties.ts';

/** The duty to wake a task that has no actor, with an account that is overdue or not. */
function wakes(isOver: boolean): Promise<void> {
  const asked: unknown[] = [];
  const overdue = async (...call: unknown[]) => {
    asked.push(call);
    return isOver;
  };
  const ports = {
    clock: { now: () => 7 },
    tasks: { holds: { overdue } },
    inbox: { tellParked: async () => null },
  };
  const duties = sharedDuties(ports as never);
  return duties.wake('t-1').then(() => expect(asked).toEqual([['t-1', 7]]));
}

it('a decided hold expires', async () => {
  await wakes(true);
});

it('a decided hold that a fast clock wakes too early is checked again', async () => {
  await expect(wakes(false)).rejects.toThrow('the deadline is not here yet');
});
