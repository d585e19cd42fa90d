import type { Hold } from '../adapter.ts';
import { checksOf } from '../check.ts';
import type { HoldsUnderTest } from '../holds-under-test.ts';
import { promised } from '../promised.ts';

export const limitChecks = checksOf('limits', {
  within: [
    'calls within a limit are allowed',
    ['limit'],
    async (holds) => {
      const account = accountOf(holds);
      for (const amount of [60, 40]) await expectAllowed(await account.spend(amount));
    },
  ],
  beyond: [
    'a call beyond a limit is not allowed',
    ['limit'],
    async (holds) => {
      const account = accountOf(holds);
      await expectAllowed(await account.spend(60));
      expectNotAllowed(await account.spend(41));
    },
  ],
  exact: [
    'decimal amounts add up exactly',
    ['limit'],
    async (holds) => {
      const account = accountOf(holds);
      // As binary fractions they add up to more than 100.
      for (const amount of [40.1, 40.2, 19.7]) await expectAllowed(await account.spend(amount));
      expectNotAllowed(await account.spend(0.01));
    },
  ],
  apart: [
    'what one account has used leaves another one alone',
    ['limit'],
    async (holds) => {
      await expectAllowed(await accountOf(holds).spend(100));
      await expectAllowed(await accountOf(holds).spend(100));
    },
  ],
  'denied-call': [
    'a call beyond a limit uses nothing of it',
    ['limit'],
    async (holds) => {
      const account = accountOf(holds);
      expectNotAllowed(await account.spend(101));
      await expectAllowed(await account.spend(100));
    },
  ],
  'same-key': [
    'a request that is sent again counts once',
    ['limit'],
    async (holds) => {
      const account = accountOf(holds);
      const call = account.call(60);
      await Promise.all([holds.ask(call), holds.ask(call), holds.ask(call)]);
      await expectAllowed(await account.spend(40));
    },
  ],
  crowd: [
    'of ten calls at once, only as many are allowed as fit',
    ['limit'],
    async (holds) => {
      const account = accountOf(holds);
      const asking = Array.from({ length: 10 }, () => account.spend(20));
      const allowed = (await Promise.all(asking)).filter(({ status }) => status === 'allowed');
      promised(allowed.length === 5, `${allowed.length} of ten calls are allowed, and five fit`);
    },
  ],
  unmeasured: [
    'a call whose amount cannot be added is not allowed',
    ['limit'],
    async (holds) => {
      const account = accountOf(holds);
      for (const amount of [-50, 'ten', null]) {
        const answer = await holds.adapter.ask({
          ...account.call(0),
          ...argsOf(account.id, amount),
        });
        promised(
          !('status' in answer && answer.status === 'allowed'),
          `a call of ${JSON.stringify(amount)} is allowed`,
        );
      }
      await expectAllowed(await account.spend(100));
      expectNotAllowed(await account.spend(1));
    },
  ],
  'failed-call': [
    'a call that failed counts, since it may have had an effect',
    ['limit', 'report'],
    async (holds) => {
      const account = accountOf(holds);
      const { id } = await account.spend(100);
      await holds.report(id, { status: 'failed', error: 'no answer' });
      expectNotAllowed(await account.spend(1));
    },
  ],
  'not-run': [
    'a call that did not run gives its amount back',
    ['limit', 'report', 'notRun'],
    async (holds) => {
      const account = accountOf(holds);
      const { id } = await account.spend(100);
      await holds.report(id, { status: 'not_run' });
      await expectAllowed(await account.spend(100));
    },
  ],
  kill: [
    'what was used before a kill counts after it',
    ['limit', 'kill'],
    async (holds) => {
      const account = accountOf(holds);
      await holds.restart({ before: async () => expectAllowed(await account.spend(60)) });
      expectNotAllowed(await account.spend(41));
      await expectAllowed(await account.spend(40));
    },
  ],
  held: [
    'a call beyond a limit that asks waits, and counts once it is approved',
    ['limitAsks', 'decide'],
    async (holds) => {
      const account = accountOf(holds, 'spend_more');
      await expectAllowed(await account.spend(60));
      const { id, status } = await account.spend(41);
      promised(status === 'pending', `a call beyond the limit is ${status}, and must wait`);
      await holds.decideNow(id, 'approve');
      await holds.expectEnd(id, 'approved');
      expectNotAllowed(await account.spend(40));
    },
  ],
  rejected: [
    'a call beyond a limit that is rejected uses nothing of it',
    ['limitAsks', 'decide'],
    async (holds) => {
      const account = accountOf(holds, 'spend_more');
      const { id } = await account.spend(101);
      await holds.decideNow(id, 'reject');
      await expectAllowed(await account.spend(100));
    },
  ],
});

/** An account of its own, for calls of a tool with a limit. */
function accountOf(holds: HoldsUnderTest, tool: 'spend' | 'spend_more' = 'spend') {
  const id = holds.call().key;
  const call = (amount: number) => holds.call({ tool, ...argsOf(id, amount) });
  return { id, call, spend: (amount: number): Promise<Hold> => holds.ask(call(amount)) };
}

function argsOf(account: string, amount: unknown) {
  return { args: { account, amount } };
}

async function expectAllowed({ status }: Hold): Promise<void> {
  promised(status === 'allowed', `a call within the limit is ${status}, and must be allowed`);
}

function expectNotAllowed({ status }: Hold): void {
  promised(status !== 'allowed', 'a call beyond the limit is allowed');
}
