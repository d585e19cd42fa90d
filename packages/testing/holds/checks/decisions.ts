import { checksOf } from '../check.ts';
import type { HoldsUnderTest } from '../holds-under-test.ts';
import { promised } from '../promised.ts';

export const decisionChecks = checksOf('single decision', {
  'approve-approve': [
    'a second approval is refused',
    ['decide'],
    (holds) => expectFirstOf(holds, 'approve', 'approve'),
  ],
  'approve-reject': [
    'a rejection after an approval is refused',
    ['decide'],
    (holds) => expectFirstOf(holds, 'approve', 'reject'),
  ],
  'reject-approve': [
    'an approval after a rejection is refused',
    ['decide'],
    (holds) => expectFirstOf(holds, 'reject', 'approve'),
  ],
  'repeated-approval': [
    'an approval that is sent twice runs the call once',
    ['decide', 'take or runs'],
    async (holds) => {
      const { id, args } = await holds.held();
      await holds.decideNow(id, 'approve');
      await holds.expectRun(id, args);
      await holds.decide(id, 'approve');
      await holds.expectNoFurtherRun(id, 1);
    },
  ],
  'one-call': [
    'a decision counts for one call only',
    ['decide'],
    async (holds) => {
      const [one, other] = [await holds.held(), await holds.held()];
      await holds.decideNow(one.id, 'approve');
      await holds.expectEnd(one.id, 'approved');
      await holds.expectWaiting(other.id);
    },
  ],
  'unknown-hold': [
    'a decision on a hold that does not exist is refused, and approves no later call',
    ['decide'],
    async (holds) => {
      const { key } = holds.call();
      const answer = await holds.decide(key, 'approve');
      promised(answer === 'refused', 'an approval of a hold that does not exist was accepted');
      await holds.held({ key });
    },
  ],
  'after-cancellation': [
    'an approval after a cancellation is refused',
    ['decide', 'cancel'],
    async (holds) => {
      const { id } = await holds.held();
      await holds.cancel(id);
      await holds.expectEnd(id, 'cancelled');
      const late = await holds.decide(id, 'approve');
      promised(late === 'refused', 'an approval of a cancelled call was accepted');
      await holds.expectEnd(id, 'cancelled');
    },
  ],
  'no-longer-waits': [
    'a decided call is no longer among those that wait',
    ['decide', 'waiting'],
    async (holds) => {
      const [one, other] = [await holds.held(), await holds.held()];
      await holds.decideNow(one.id, 'reject');
      await holds.decided(one.id);
      const waiting = await holds.waiting();
      promised(waiting.has(other.id), 'approvers do not see a call that waits');
      promised(!waiting.has(one.id), 'approvers still see a call that is decided');
    },
  ],
});

async function expectFirstOf(
  holds: HoldsUnderTest,
  first: 'approve' | 'reject',
  second: 'approve' | 'reject',
): Promise<void> {
  const { id } = await holds.held();
  await holds.decideNow(id, first);
  const end = first === 'approve' ? 'approved' : 'rejected';
  await holds.expectEnd(id, end);
  const later = await holds.decide(id, second, { by: 'ben' });
  promised(later === 'refused', `"${second}" was accepted for a call that is already ${end}`);
  await holds.expectEnd(id, end);
}
