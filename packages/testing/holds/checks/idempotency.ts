import { isRefused } from '../adapter.ts';
import { checksOf } from '../check.ts';
import { promised } from '../promised.ts';

export const idempotencyChecks = checksOf('idempotency', {
  'same-call': [
    'the same key and call are the same hold',
    [],
    async (holds) => {
      const { id, ...call } = await holds.held();
      const again = await holds.ask(call);
      promised(again.id === id, 'the same key and call made a second hold');
      promised(again.status === 'pending', `the repeated call is ${again.status}`);
    },
  ],
  'at-once': [
    'ten requests at once with one key are one hold',
    [],
    async (holds) => {
      const call = holds.call();
      const answers = await Promise.all(Array.from({ length: 10 }, () => holds.ask(call)));
      const { size } = new Set(answers.map(({ id }) => id));
      promised(size === 1, `ten requests at once with one key made ${size} holds`);
    },
  ],
  'shown-once': [
    'a call that was asked for several times waits once',
    ['waiting'],
    async (holds) => {
      const { key, ...rest } = holds.call();
      const call = { key, ...rest, args: { order: key } };
      await Promise.all(Array.from({ length: 5 }, () => holds.ask(call)));
      const calls = (await holds.adapter.waiting?.()) ?? [];
      const { length } = calls.filter(({ args }) => args['order'] === key);
      promised(length === 1, `approvers see the call ${length} times`);
    },
  ],
  'runs-once': [
    'a call that was asked for several times runs once',
    ['decide', 'take or runs'],
    async (holds) => {
      const call = holds.call();
      const [first] = await Promise.all(Array.from({ length: 5 }, () => holds.ask(call)));
      const { id } = first as NonNullable<typeof first>;
      await holds.decideNow(id, 'approve');
      await holds.expectRun(id, call.args);
    },
  ],
  'two-keys': [
    'two keys are two holds, for equal calls as well',
    ['decide'],
    async (holds) => {
      const one = await holds.held({ args: { amount: 1 } });
      const other = await holds.held({ args: { amount: 1 } });
      promised(one.id !== other.id, 'two keys made one hold');
      await holds.decideNow(one.id, 'reject');
      await holds.expectWaiting(other.id);
    },
  ],
  'member-order': [
    'the order of the members of the arguments makes no difference',
    [],
    async (holds) => {
      const args = { to: 'A', more: { one: 1, two: [2] } };
      const { id, ...call } = await holds.held({ args });
      const reordered = { more: { two: [2], one: 1 }, to: 'A' };
      const again = await holds.ask({ ...call, args: reordered });
      promised(again.id === id, 'the same arguments in another order made another hold');
    },
  ],
  'odd-keys': [
    'similar and odd keys are separate holds or are refused',
    [],
    async (holds) => {
      const call = holds.call();
      const odd = ['', ' ', '/', '/..', "'", '"', '%', '%20', '\u00e9', 'e\u0301', '__proto__'];
      const keys = [...odd.map((end) => call.key + end), call.key.toUpperCase()];
      const answers = await Promise.all(keys.map((key) => holds.adapter.ask({ ...call, key })));
      const ids = answers.flatMap((answer) => (isRefused(answer) ? [] : [answer.id]));
      const { size } = new Set(ids);
      promised(size === ids.length, `${ids.length} different keys made ${size} holds`);
    },
  ],
  'lost-answer': [
    'a process that lost the answer receives its call again, and no other does',
    ['decide', 'take', 'claim'],
    async (holds) => holds.expectClaim(await holds.claimed('one'), 'one'),
  ],
  'after-approval': [
    'the key of an approved call returns that call',
    ['decide'],
    async (holds) => {
      const { id, ...call } = await holds.held();
      await holds.decideNow(id, 'approve');
      await holds.expectEnd(id, 'approved');
      const again = await holds.ask(call);
      promised(again.id === id, 'the key of an approved call made another hold');
      promised(
        again.status === 'approved',
        `the approved call is ${again.status} when asked again`,
      );
    },
  ],
  'after-rejection': [
    'the key of a rejected call does not ask again',
    ['decide'],
    async (holds) => {
      const { id, ...call } = await holds.held();
      await holds.decideNow(id, 'reject');
      await holds.expectEnd(id, 'rejected');
      const { status } = await holds.ask(call);
      promised(status === 'rejected', `the rejected call is ${status} when asked again`);
    },
  ],
  'after-cancellation': [
    'the key of a cancelled call does not ask again',
    ['cancel'],
    async (holds) => {
      const { id, ...call } = await holds.held();
      await holds.cancel(id);
      await holds.expectEnd(id, 'cancelled');
      const { status } = await holds.ask(call);
      promised(status === 'cancelled', `the cancelled call is ${status} when asked again`);
    },
  ],
});
