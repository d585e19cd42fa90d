import { expect, it } from 'vitest';
import { HoldAccounts } from '../../../src/actors/tasks/hold-accounts.ts';
import type { Task } from '../../../src/machines/domain/task.ts';
import { aTask } from '../../helpers/stored-tasks.ts';
import { aDeferral, digest } from '../../helpers/task-fixtures.ts';

/** An approved call that its program fetches until 100, in a store of one row. */
function accountsAt(now: number, refusal: string | null = null) {
  const granted = { callId: 'c-1', args: {}, argsSha256: digest, deferralId: 'c-1' };
  const account = { state: 'granted', grantedAt: 0, releasedAt: null, outcome: null } as const;
  const times = { releaseWithin: 100, outcomeWithin: 50 };
  const hold = { key: 'k', tool: 'Bash', askedSha256: digest, ...times, granted, account };
  let task: Task = aTask({ state: 'completed', hold, approved: aDeferral(), wakeAt: 100 });
  const events: string[] = [];
  const store = {
    rows: {
      read: async () => ({ task, auditSeq: 1, machineVersion: 1, startedCall: null }),
      find: async () => task,
    },
    save: async (
      _: string,
      make: () => { change: { task: Task }; events: { event: string }[] },
    ) => {
      const write = make();
      task = write.change.task;
      events.push(...write.events.map(({ event }) => event));
    },
  };
  const accounts = new HoldAccounts({
    ...{ store: store as never, clock: { now: () => now } as never, envelope: {} as never },
    rulingOf: async () => ({ refusal, reserved: [] }),
    onChanged: () => undefined,
  });
  return { accounts, events };
}

it.each<[number, string | null, string, string]>([
  [99, null, 'released', 'hold_released'],
  // The deadline may not have woken the hold yet.
  [100, null, 'withdrawn', 'hold_withdrawn'],
  [101, 'no', 'withdrawn', 'hold_withdrawn'],
  [5, 'no', 'withdrawn', 'hold_withdrawn'],
])(
  'a call that is received at %d with the refusal %s is %s',
  async (now, refusal, state, event) => {
    const { accounts, events } = accountsAt(now, refusal);
    const { task, isChanged } = await accounts.take('t-1', 'p-1');
    expect([task?.hold?.account?.state, isChanged, events]).toEqual([state, true, [event]]);
    const status = now < 100 ? 'denied' : 'expired';
    expect(task?.hold?.account?.withdrawn?.status).toBe(state === 'released' ? undefined : status);
  },
);

it('a hold is over only at its time', async () => {
  const { accounts, events } = accountsAt(100);
  expect(await accounts.overdue('t-1', 99)).toBe(false);
  expect(events).toEqual([]);
  expect(await accounts.overdue('t-1', 100)).toBe(true);
  expect(events).toEqual(['hold_withdrawn']);
  expect(await accounts.overdue('t-1', 200)).toBe(true);
});
