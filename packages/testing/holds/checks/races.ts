import { isRefused } from '../adapter.ts';
import { checksOf } from '../check.ts';
import type { HoldsUnderTest } from '../holds-under-test.ts';
import { promised } from '../promised.ts';

export const raceChecks = checksOf('races', {
  'two-approvals': [
    'of two approvals at once, one is accepted',
    ['decide'],
    (holds) => expectOneDecision(holds, ['approve', 'approve']),
  ],
  'approve-reject': [
    'of an approval and a rejection at once, one is accepted and decides',
    ['decide'],
    (holds) => expectOneDecision(holds, ['approve', 'reject']),
  ],
  crowd: [
    'of twenty decisions at once, one is accepted and decides',
    ['decide'],
    (holds) =>
      expectOneDecision(
        holds,
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'approve' : 'reject')),
      ),
  ],
  'runs-once': [
    'a call that several people approve at once runs once',
    ['decide', 'take or runs'],
    async (holds) => {
      const { id, args } = await holds.held();
      await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          holds.decide(id, 'approve', { by: index % 2 === 0 ? 'ann' : 'ben' }),
        ),
      );
      await holds.expectRun(id, args);
    },
  ],
  'approve-cancel': [
    'an approval and a cancellation at once end the hold once',
    ['decide', 'cancel', 'take or runs'],
    async (holds) => {
      const { id, args } = await holds.held();
      const [approval, cancellation] = await Promise.all([
        holds.decide(id, 'approve'),
        holds.cancel(id),
      ]);
      promised(
        approval === 'accepted' || cancellation === 'accepted',
        'both the approval and the cancellation were refused',
      );
      // A cancellation may follow an approval, until the call runs.
      if (cancellation === 'accepted') {
        await holds.expectEnd(id, 'cancelled');
        await holds.expectNoRun(id);
      } else await holds.expectRun(id, args);
    },
  ],
  takers: [
    'of ten programs that take an approved call at once, one receives it',
    ['decide', 'take'],
    async (holds) => {
      const { id } = await holds.held();
      await holds.decideNow(id, 'approve');
      const taking = Array.from({ length: 10 }, () => holds.take(id));
      const taken = (await Promise.all(taking)).filter((answer) => !isRefused(answer));
      promised(taken.length <= 1, `${taken.length} programs received the call`);
      if (taken.length === 1) await holds.expectNoFurtherRun(id, 1);
    },
  ],
  'ask-while-decided': [
    'requests with the key of a call that is just decided are the same hold',
    ['decide'],
    async (holds) => {
      const { id, ...call } = await holds.held();
      const asking = () => Array.from({ length: 5 }, () => holds.ask(call));
      const before = asking();
      const decision = holds.decideNow(id, 'reject');
      const answers = await Promise.all([...before, ...asking()]);
      await decision;
      const others = answers.filter((answer) => answer.id !== id);
      promised(others.length === 0, `${others.length} of ten requests made another hold`);
      const odd = answers.find(({ status }) => status !== 'pending' && status !== 'rejected');
      promised(odd === undefined, `a request found the rejected call ${odd?.status}`);
    },
  ],
  'no-way-back': [
    'a call that was seen decided is never seen waiting again',
    ['decide'],
    async (holds) => {
      const { id } = await holds.held();
      const decision = holds.decideNow(id, 'reject');
      let isDecided = false;
      for (let reads = 0; reads < 30; reads += 1) {
        const status = await holds.status(id);
        promised(!isDecided || status === 'rejected', `the rejected call is ${status} again`);
        isDecided = status === 'rejected';
      }
      await decision;
      await holds.expectEnd(id, 'rejected');
    },
  ],
  outcomes: [
    'of several outcomes at once, one counts',
    ['decide', 'take', 'report'],
    async (holds) => {
      const id = await holds.taken();
      const attempts = await Promise.all([
        holds.report(id, { status: 'succeeded' }),
        holds.report(id, { status: 'failed', error: 'one' }),
        holds.report(id, { status: 'failed', error: 'two' }),
      ]);
      const accepted = attempts.filter((attempt) => attempt === 'accepted').length;
      promised(accepted === 1, `${accepted} of three different outcomes were accepted`);
    },
  ],
  'many-holds': [
    'forty calls that are held and decided at once do not mix',
    ['decide'],
    async (holds) => {
      const asking = Array.from({ length: 40 }, () => holds.held());
      const calls = await Promise.all(asking);
      const wordOf = (index: number) => (index % 3 === 0 ? 'approve' : 'reject');
      await Promise.all(calls.map(({ id }, index) => holds.decideNow(id, wordOf(index))));
      await Promise.all(
        calls.map(({ id }, index) =>
          holds.expectEnd(id, wordOf(index) === 'approve' ? 'approved' : 'rejected'),
        ),
      );
    },
  ],
});

async function expectOneDecision(
  holds: HoldsUnderTest,
  decisions: readonly ('approve' | 'reject')[],
): Promise<void> {
  const { id } = await holds.held();
  const attempts = await Promise.all(
    decisions.map((decision, index) =>
      holds.decide(id, decision, { by: index % 2 === 0 ? 'ann' : 'ben' }),
    ),
  );
  const accepted = decisions.filter((_, index) => attempts[index] === 'accepted');
  promised(
    accepted.length === 1,
    `${accepted.length} of ${decisions.length} decisions at once were accepted`,
  );
  await holds.expectEnd(id, accepted[0] === 'approve' ? 'approved' : 'rejected');
}
