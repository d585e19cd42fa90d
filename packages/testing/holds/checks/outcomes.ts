import { checksOf } from '../check.ts';
import { promised } from '../promised.ts';

const failed = { status: 'failed', error: 'no such account' } as const;

export const outcomeChecks = checksOf('outcome', {
  shown: [
    'the outcome of a call is shown',
    ['decide', 'take', 'report'],
    async (holds) => {
      const id = await holds.taken();
      promised((await holds.report(id, failed)) === 'accepted', 'the outcome was refused');
      const { outcome } = await holds.read(id);
      promised(
        outcome?.status === 'failed' && outcome.error === failed.error,
        `the outcome is ${JSON.stringify(outcome ?? null)}`,
      );
    },
  ],
  repeated: [
    'an equal outcome is accepted again',
    ['decide', 'take', 'report'],
    async (holds) => {
      const id = await holds.taken();
      await holds.report(id, { status: 'succeeded' });
      const again = await holds.report(id, { status: 'succeeded' });
      promised(again === 'accepted', 'an equal outcome was refused the second time');
    },
  ],
  first: [
    'a different outcome is refused, and the first one stays',
    ['decide', 'take', 'report'],
    async (holds) => {
      const id = await holds.taken();
      await holds.report(id, { status: 'succeeded' });
      promised((await holds.report(id, failed)) === 'refused', 'a second outcome was accepted');
      const { outcome } = await holds.read(id);
      promised(outcome?.status === 'succeeded', `the first outcome became ${outcome?.status}`);
    },
  ],
  'of-a-waiting-call': [
    'a waiting call has no outcome',
    ['take', 'report'],
    async (holds) => {
      const { id } = await holds.held();
      const attempt = await holds.report(id, { status: 'succeeded' });
      promised(attempt === 'refused', 'the outcome of a waiting call was accepted');
      await holds.expectWaiting(id);
    },
  ],
  'of-a-rejected-call': [
    'a rejected call has no outcome',
    ['decide', 'take', 'report'],
    async (holds) => {
      const { id } = await holds.held();
      await holds.decideNow(id, 'reject');
      await holds.expectEnd(id, 'rejected');
      const attempt = await holds.report(id, { status: 'succeeded' });
      promised(attempt === 'refused', 'the outcome of a rejected call was accepted');
    },
  ],
  'of-a-call-not-taken': [
    'a call that no program received did not succeed',
    ['decide', 'take', 'report'],
    async (holds) => {
      const { id } = await holds.held();
      await holds.decideNow(id, 'approve');
      const attempt = await holds.report(id, { status: 'succeeded' });
      promised(attempt === 'refused', 'the outcome of a call that no program took was accepted');
    },
  ],
  'of-no-call': [
    'a hold that does not exist has no outcome',
    ['report'],
    async (holds) => {
      const attempt = await holds.report(holds.call().key, { status: 'succeeded' });
      promised(attempt === 'refused', 'the outcome of a hold that does not exist was accepted');
    },
  ],
  'closed-call': [
    'a call with an outcome does not run again',
    ['decide', 'take', 'report'],
    async (holds) => {
      const id = await holds.taken();
      await holds.report(id, failed);
      await holds.expectNoFurtherRun(id, 1);
    },
  ],
});
