import { isRefused } from '../adapter.ts';
import { type Capability, checksOf, type HoldCheck } from '../check.ts';
import type { HoldsUnderTest } from '../holds-under-test.ts';
import { promised } from '../promised.ts';

type Row = [
  title: string,
  needs: readonly Capability[],
  run: (holds: HoldsUnderTest) => Promise<void>,
];

/** What a stop and a kill must both leave. The last request is answered right before. */
function survivals(end: 'stop' | 'kill'): Record<string, Row> {
  return {
    'keeps-waiting': [
      `a waiting call is the same hold after a ${end}, and can be decided`,
      [end, 'decide'],
      async (holds) => {
        const call = holds.call();
        let id = '';
        await holds.restart({ before: async () => ({ id } = await holds.ask(call)) });
        await holds.expectWaiting(id);
        const again = await holds.ask(call);
        promised(again.id === id, `the key makes another hold after a ${end}`);
        await holds.decideNow(id, 'approve');
        await holds.expectEnd(id, 'approved');
      },
    ],
    'keeps-approval': [
      `a call that was approved before a ${end} runs once after it`,
      [end, 'decide', 'take or runs'],
      async (holds) => {
        const { id, args } = await holds.held();
        await holds.restart({ before: () => holds.decideNow(id, 'approve') });
        await holds.expectRun(id, args);
        const late = await holds.decide(id, 'reject');
        promised(late === 'refused', `a rejection after the ${end} was accepted`);
      },
    ],
    'keeps-rejection': [
      `a call that was rejected before a ${end} stays rejected`,
      [end, 'decide'],
      async (holds) => {
        const { id } = await holds.held();
        await holds.restart({ before: () => holds.decideNow(id, 'reject') });
        await holds.expectEnd(id, 'rejected');
        const late = await holds.decide(id, 'approve');
        promised(late === 'refused', `an approval after the ${end} was accepted`);
        await holds.expectNoRun(id);
      },
    ],
    'keeps-run': [
      `a call that ran before a ${end} does not run again`,
      [end, 'decide', 'take or runs'],
      async (holds) => {
        const { id, args } = await holds.held();
        await holds.decideNow(id, 'approve');
        await holds.restart({ before: () => holds.expectRun(id, args) });
        await holds.expectNoFurtherRun(id, 1);
      },
    ],
    'keeps-arguments': [
      `a key stays bound to its arguments after a ${end}`,
      [end],
      async (holds) => {
        const { id, ...call } = await holds.held();
        await holds.restart();
        const other = await holds.adapter.ask({ ...call, args: { to: 'EVE', amount: 1_000 } });
        promised(isRefused(other), `other arguments were accepted under the key after a ${end}`);
        await holds.expectWaiting(id);
      },
    ],
  };
}

export const stopChecks: HoldCheck[] = checksOf('restart', survivals('stop'));

export const killChecks: HoldCheck[] = checksOf('kill', {
  ...survivals('kill'),
  'keeps-claim': [
    'a process that lost the answer in a kill receives its call again, and no other does',
    ['kill', 'decide', 'take', 'claim'],
    async (holds) => {
      let id = '';
      await holds.restart({ before: async () => (id = await holds.claimed('one')) });
      await holds.expectClaim(id, 'one');
    },
  ],
  'keeps-cancellation': [
    'a call that was cancelled before a kill stays cancelled',
    ['kill', 'cancel'],
    async (holds) => {
      const { id } = await holds.held();
      await holds.restart({ before: () => holds.cancel(id) });
      await holds.expectEnd(id, 'cancelled');
      await holds.expectNoRun(id);
    },
  ],
  'keeps-outcome': [
    'an outcome that was reported before a kill counts',
    ['kill', 'decide', 'take', 'report'],
    async (holds) => {
      const id = await holds.taken();
      await holds.restart({ before: () => holds.report(id, { status: 'succeeded' }) });
      const other = await holds.report(id, { status: 'failed', error: 'no' });
      promised(other === 'refused', 'another outcome was accepted after the kill');
      const { outcome } = await holds.read(id);
      promised(outcome?.status === 'succeeded', `the outcome is ${outcome?.status} after the kill`);
    },
  ],
  'request-cut-off': [
    'a request that the kill cuts off leaves at most one hold',
    ['kill'],
    async (holds) => {
      const calls = Array.from({ length: 5 }, () => holds.call());
      await holds.restart({ during: () => Promise.all(calls.map((call) => holds.ask(call))) });
      for (const call of calls) {
        const [one, other] = [await holds.ask(call), await holds.ask(call)];
        promised(one.id === other.id, 'the key of a request that was cut off makes two holds');
        promised(one.status === 'pending', `a call that nobody decided is ${one.status}`);
      }
    },
  ],
  'decision-cut-off': [
    'a decision that the kill cuts off counts as a whole or not at all',
    ['kill', 'decide', 'take or runs'],
    async (holds) => {
      const calls = await Promise.all(Array.from({ length: 5 }, () => holds.held()));
      const deciding = () => Promise.all(calls.map(({ id }) => holds.decide(id, 'reject')));
      await holds.restart({ during: deciding });
      for (const { id, args } of calls) {
        const before = await holds.status(id);
        const attempt = await holds.decide(id, 'approve');
        const expected = before === 'pending' ? 'accepted' : 'refused';
        promised(attempt === expected, `an approval of a call that is ${before} was ${attempt}`);
        if (attempt === 'accepted') await holds.expectRun(id, args);
        else await holds.expectEnd(id, 'rejected');
      }
    },
  ],
  'deadline-while-down': [
    'a call whose deadline passes while the implementation is down expires',
    ['kill', 'decide', 'expiresWithin'],
    async (holds) => {
      const { id } = await holds.held({ soon: true });
      await holds.restart({ down: () => holds.passDeadline() });
      await holds.expectEnd(id, 'expired');
      const late = await holds.decide(id, 'approve');
      promised(late === 'refused', 'an approval after the deadline was accepted');
      await holds.expectNoRun(id);
    },
  ],
});
