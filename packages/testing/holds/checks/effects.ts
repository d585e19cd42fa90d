import type { Hold } from '../adapter.ts';
import { checksOf } from '../check.ts';
import type { HoldsUnderTest } from '../holds-under-test.ts';
import { promised } from '../promised.ts';

export const effectChecks = checksOf('effects', {
  repeat: [
    'a call with the effect of another is not allowed',
    ['effect'],
    async (holds) => {
      const order = orderOf(holds);
      expectAllowed(await order.send());
      expectRepeat(await order.send());
    },
  ],
  'other-effect': [
    'a call with another effect is allowed',
    ['effect'],
    async (holds) => {
      expectAllowed(await orderOf(holds).send());
      expectAllowed(await orderOf(holds).send());
    },
  ],
  succeeded: [
    'an effect stays known once its call has succeeded',
    ['effect', 'report'],
    async (holds) => {
      const order = orderOf(holds);
      const { id } = await order.send();
      await holds.report(id, { status: 'succeeded' });
      expectRepeat(await order.send());
    },
  ],
  failed: [
    'a call that failed frees its effect',
    ['effect', 'report'],
    async (holds) => {
      const order = orderOf(holds);
      const { id } = await order.send();
      await holds.report(id, { status: 'failed', error: 'no route' });
      expectAllowed(await order.send());
    },
  ],
  crowd: [
    'of ten calls with one effect at once, one is allowed',
    ['effect'],
    async (holds) => {
      const order = orderOf(holds);
      const asking = Array.from({ length: 10 }, () => order.send());
      const allowed = (await Promise.all(asking)).filter(({ status }) => status === 'allowed');
      promised(allowed.length === 1, `${allowed.length} of ten calls are allowed`);
    },
  ],
  kill: [
    'an effect stays known after a kill',
    ['effect', 'kill'],
    async (holds) => {
      const order = orderOf(holds);
      await holds.restart({ before: async () => expectAllowed(await order.send()) });
      expectRepeat(await order.send());
    },
  ],
});

/** An order of its own. */
function orderOf(holds: HoldsUnderTest) {
  const order = holds.call().key;
  return {
    send: (): Promise<Hold> => {
      const { key, ...call } = holds.call({ tool: 'send' });
      return holds.ask({ ...call, key, args: { order, note: key } });
    },
  };
}

function expectAllowed({ status }: Hold): void {
  promised(status === 'allowed', `a call with an effect of its own is ${status}`);
}

function expectRepeat({ status }: Hold): void {
  promised(status !== 'allowed', 'a second call with the same effect is allowed');
}
