import { isRefused } from '../adapter.ts';
import { checksOf } from '../check.ts';
import { promised } from '../promised.ts';

export const peopleChecks = checksOf('people', {
  'other-caller-reads': [
    'a hold is hidden from other callers',
    ['callers'],
    async (holds) => {
      const { id } = await holds.held();
      const status = await holds.status(id, 'eve');
      promised(status === 'refused', `another caller sees that the hold is ${status}`);
    },
  ],
  'other-caller-cancels': [
    'another caller cannot cancel a hold',
    ['callers', 'cancel'],
    async (holds) => {
      const { id } = await holds.held();
      const attempt = await holds.cancel(id, 'eve');
      promised(attempt === 'refused', 'another caller cancelled the hold');
      await holds.expectWaiting(id);
    },
  ],
  'other-caller-takes': [
    'another caller cannot take an approved call',
    ['callers', 'decide', 'take'],
    async (holds) => {
      const { id, args } = await holds.held();
      await holds.decideNow(id, 'approve');
      const answer = await holds.take(id, 'eve');
      promised(isRefused(answer), 'another caller took the approved call');
      await holds.expectRun(id, args);
    },
  ],
  'other-caller-reports': [
    'another caller cannot report the outcome',
    ['callers', 'decide', 'take', 'report'],
    async (holds) => {
      const id = await holds.taken();
      const attempt = await holds.report(id, { status: 'failed', error: 'no' }, 'eve');
      promised(attempt === 'refused', 'another caller reported the outcome');
      const own = await holds.report(id, { status: 'succeeded' });
      promised(own === 'accepted', 'the outcome of the caller itself was refused');
    },
  ],
  'same-key-of-another': [
    'the key of one caller is no key of another',
    ['callers'],
    async (holds) => {
      const { id, ...call } = await holds.held();
      const other = await holds.ask({ ...call, by: 'eve', args: { to: 'EVE' } });
      promised(other.id !== id, 'the key of another caller returned the hold');
      await holds.expectWaiting(id);
    },
  ],
  stranger: [
    'a person who is no approver cannot decide',
    ['approvers', 'decide'],
    async (holds) => {
      const { id } = await holds.held();
      for (const decision of ['approve', 'reject'] as const) {
        const attempt = await holds.decide(id, decision, { by: 'eve' });
        promised(
          attempt === 'refused',
          `"${decision}" of a person who is no approver was accepted`,
        );
      }
      await holds.expectWaiting(id);
    },
  ],
  'stranger-edits': [
    'a person who is no approver cannot change the arguments',
    ['approvers', 'decide', 'edit', 'take or runs'],
    async (holds) => {
      const { id, args } = await holds.held();
      const edit = { by: 'eve', args: { to: 'EVE' } } as const;
      const attempt = await holds.decide(id, 'approve', edit);
      promised(attempt === 'refused', 'the change of a person who is no approver was accepted');
      await holds.decideNow(id, 'approve');
      await holds.expectRun(id, args);
    },
  ],
  'four-eyes': [
    'the requester cannot approve the own call, and another person can',
    ['fourEyes', 'decide'],
    async (holds) => {
      const { id } = await holds.held();
      const attempt = await holds.decide(id, 'approve', { by: 'rita' });
      promised(attempt === 'refused', 'the requester approved the own call');
      await holds.expectWaiting(id);
      await holds.decideNow(id, 'approve');
    },
  ],
  approver: [
    'a decided call names the person who decided',
    ['approver', 'decide'],
    async (holds) => {
      for (const by of ['ann', 'ben'] as const) {
        const { id } = await holds.held();
        await holds.decideNow(id, by === 'ann' ? 'approve' : 'reject', { by });
        const { approver } = await holds.decided(id);
        promised(approver === by, `the decision of ${by} is that of ${approver ?? 'nobody'}`);
      }
    },
  ],
  'approver-of-a-race': [
    'of two people who decide at once, the call names the one who was accepted',
    ['approver', 'decide'],
    async (holds) => {
      const { id } = await holds.held();
      const [ann, ben] = await Promise.all([
        holds.decide(id, 'approve', { by: 'ann' }),
        holds.decide(id, 'approve', { by: 'ben' }),
      ]);
      promised(ann !== ben, `both decisions were ${ann}`);
      const accepted = ann === 'accepted' ? 'ann' : 'ben';
      const { approver } = await holds.decided(id);
      promised(approver === accepted, `the decision of ${accepted} is that of ${approver}`);
    },
  ],
  note: [
    'the caller receives the note of a decision',
    ['note', 'decide'],
    async (holds) => {
      for (const decision of ['approve', 'reject'] as const) {
        const { id } = await holds.held();
        await holds.decideNow(id, decision, { note: 'only \u00e0 "small" one' });
        const { note } = await holds.decided(id);
        promised(note === 'only \u00e0 "small" one', `the note is ${JSON.stringify(note ?? null)}`);
      }
    },
  ],
});
