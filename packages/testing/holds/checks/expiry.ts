import { checksOf } from '../check.ts';
import { promised } from '../promised.ts';

export const expiryChecks = checksOf('expiry', {
  closed: [
    'a call that nobody decides expires and never runs',
    ['expiresWithin'],
    async (holds) => {
      const { id } = await holds.held({ soon: true });
      await holds.passDeadline();
      await holds.expectEnd(id, 'expired');
      await holds.expectNoRun(id);
    },
  ],
  'late-approval': [
    'an approval after the deadline is refused',
    ['expiresWithin', 'decide'],
    async (holds) => {
      const { id } = await holds.held({ soon: true });
      await holds.passDeadline();
      // Timers of the implementation may be late, but not for that long.
      await holds.passDeadline();
      const late = await holds.decide(id, 'approve');
      promised(late === 'refused', 'an approval after the deadline was accepted');
      await holds.expectEnd(id, 'expired');
      await holds.expectNoRun(id);
    },
  ],
  'one-call': [
    'the deadline of one call ends no other',
    ['expiresWithin'],
    async (holds) => {
      const other = await holds.held();
      const { id } = await holds.held({ soon: true });
      await holds.passDeadline();
      await holds.expectEnd(id, 'expired');
      await holds.expectWaiting(other.id);
    },
  ],
  'asked-again': [
    'a repeated request and a read do not extend the deadline',
    ['expiresWithin'],
    async (holds) => {
      const { id, ...call } = await holds.held({ soon: true });
      const passed = holds.passDeadline();
      // Clocks that only `pass` advances have passed at once.
      if (holds.adapter.pass === undefined) {
        await holds.sleep((holds.adapter.expiresWithin ?? 0) / 2);
        await holds.ask(call);
        await holds.expectWaiting(id);
      }
      await passed;
      await holds.expectEnd(id, 'expired');
    },
  ],
  'key-stays-closed': [
    'the key of an expired call does not run it',
    ['expiresWithin'],
    async (holds) => {
      const { id, ...call } = await holds.held({ soon: true });
      await holds.passDeadline();
      await holds.expectEnd(id, 'expired');
      const { status } = await holds.ask(call);
      promised(status === 'expired', `the expired call is ${status} when asked again`);
      await holds.expectNoRun(id);
    },
  ],
  rejected: [
    'the deadline changes nothing for a call that is already rejected',
    ['expiresWithin', 'decide'],
    async (holds) => {
      const { id } = await holds.held({ soon: true });
      await holds.decideNow(id, 'reject');
      await holds.passDeadline();
      await holds.expectEnd(id, 'rejected');
    },
  ],
  'approval-in-time': [
    'the deadline changes nothing for an approved call that already ran',
    ['expiresWithin', 'decide', 'take or runs'],
    async (holds) => {
      const { id, args } = await holds.held({ soon: true });
      await holds.decideNow(id, 'approve');
      await holds.expectRun(id, args);
      await holds.passDeadline();
      await holds.expectEnd(id, 'approved');
      await holds.expectNoFurtherRun(id, 1);
    },
  ],
  'approval-at-the-deadline': [
    'an approval at the deadline either counts or is refused',
    ['expiresWithin', 'decide', 'take or runs'],
    async (holds) => {
      const calls = await Promise.all(Array.from({ length: 8 }, () => holds.held({ soon: true })));
      await Promise.all(
        calls.map(async ({ id, args }, index) => {
          const { expiresWithin = 0 } = holds.adapter;
          // A clock that `pass` advances reaches the deadline at the sixth call.
          if (holds.adapter.pass !== undefined) await holds.adapter.pass(expiresWithin / 6);
          else await holds.sleep(expiresWithin - 15 + index * 4);
          if ((await holds.decide(id, 'approve')) === 'accepted') await holds.expectRun(id, args);
          else {
            await holds.expectEnd(id, 'expired');
            await holds.expectNoRun(id);
          }
        }),
      );
    },
  ],
});
