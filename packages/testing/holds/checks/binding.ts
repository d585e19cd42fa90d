import type { Arguments, AskedCall } from '../adapter.ts';
import { isRefused } from '../adapter.ts';
import { checksOf } from '../check.ts';
import { canonical, type HoldsUnderTest } from '../holds-under-test.ts';
import { promised } from '../promised.ts';

export const bindingChecks = checksOf('binding', {
  'other-arguments': [
    'the same key with other arguments is refused',
    [],
    (holds) => expectAnotherCall(holds, { amount: 1 }, { args: { amount: 1_000 } }),
  ],
  'other-tool': [
    'the same key with another tool is refused',
    [],
    (holds) => expectAnotherCall(holds, { amount: 1 }, { tool: 'refund' }),
  ],
  'other-type': [
    'the same key with "1" instead of 1 is refused',
    [],
    (holds) => expectAnotherCall(holds, { amount: 1 }, { args: { amount: '1' } }),
  ],
  'added-member': [
    'the same key with one more member, null, is refused',
    [],
    (holds) => expectAnotherCall(holds, { amount: 1 }, { args: { amount: 1, limit: null } }),
  ],
  'other-arguments-never-run': [
    'other arguments under the same key never run',
    ['decide', 'take or runs'],
    async (holds) => {
      const { id, ...call } = await holds.held();
      await holds.adapter.ask({ ...call, args: { to: 'EVE', amount: 1_000 } });
      await holds.decideNow(id, 'approve');
      await holds.expectRun(id, call.args);
    },
  ],
  'other-arguments-at-once': [
    'of several calls that arrive at once with one key, one is held',
    [],
    async (holds) => {
      const call = holds.call();
      const calls = Array.from({ length: 6 }, (_, amount) => ({ ...call, args: { amount } }));
      const answers = await Promise.all(calls.map((one) => holds.adapter.ask(one)));
      const { length } = answers.filter((answer) => !isRefused(answer));
      promised(length === 1, `${length} of six different calls with one key were accepted`);
    },
  ],
  'other-arguments-after-approval': [
    'an approval does not extend to other arguments under its key',
    ['decide', 'take or runs'],
    async (holds) => {
      const { id, ...call } = await holds.held();
      await holds.decideNow(id, 'approve');
      await holds.expectRun(id, call.args);
      const other = await holds.adapter.ask({ ...call, args: { to: 'EVE', amount: 1_000 } });
      promised(isRefused(other), 'other arguments were accepted under the key of an approved call');
      await holds.expectNoFurtherRun(id, 1);
    },
  ],
  'runs-as-asked': [
    'a call runs with exactly the arguments that were asked for',
    ['decide', 'take or runs'],
    async (holds) => {
      const { id, args } = await holds.held({ args: oddArguments });
      await holds.decideNow(id, 'approve');
      await holds.expectRun(id, args);
    },
  ],
  'seen-as-asked': [
    'an approver sees exactly the arguments that would run',
    ['waiting'],
    async (holds) => {
      const { id } = await holds.held({ args: oddArguments });
      const seen = (await holds.waiting()).get(id);
      promised(seen !== undefined, 'approvers do not see the call');
      promised(canonical(seen) === canonical(oddArguments), `approvers see ${canonical(seen)}`);
    },
  ],
  'digest-of-another': [
    'a decision for the arguments of another call is refused',
    ['decide', 'digest'],
    async (holds) => {
      const { id } = await holds.held();
      const other = await holds.read((await holds.held()).id);
      const wrong = await holds.decide(id, 'approve', { digest: other.digest ?? '' });
      promised(wrong === 'refused', 'an approval with the digest of another call was accepted');
      await holds.expectWaiting(id);
    },
  ],
  'digest-of-its-own': [
    'a decision for the arguments of the call counts',
    ['decide', 'digest'],
    async (holds) => {
      const { id } = await holds.held();
      const { digest = '' } = await holds.read(id);
      await holds.decideNow(id, 'approve', { digest });
      await holds.expectEnd(id, 'approved');
    },
  ],
  'edit-runs': [
    'a call runs with the arguments that its approver changed',
    ['decide', 'edit', 'take or runs'],
    async (holds) => void (await runEdited(holds)),
  ],
  'edit-key': [
    'a call with changed arguments keeps the key of the call that was asked for',
    ['decide', 'edit', 'take or runs'],
    async (holds) => {
      const { id, ...call } = await runEdited(holds);
      const again = await holds.ask(call);
      promised(again.id === id, 'the key of a call with changed arguments made another hold');
      await holds.expectNoFurtherRun(id, 1);
    },
  ],
});

const oddArguments: Arguments = {
  text: 'a "quoted" \\ line\nbreak \u0000 \u{1f4b8} e\u0301',
  nested: { list: [[], {}, null, true, [1, 0.1, -5, 9_007_199_254_740_991]], '': '' },
  'a key': ' ',
};

async function expectAnotherCall(
  holds: HoldsUnderTest,
  args: Arguments,
  change: Partial<AskedCall>,
): Promise<void> {
  const { id, ...call } = await holds.held({ args });
  const answer = await holds.adapter.ask({ ...call, ...change });
  const description = canonical({ tool: call.tool, args, ...change });
  promised(
    isRefused(answer),
    `${description} was accepted under the key of ${canonical({ tool: call.tool, args })}`,
  );
  await holds.expectWaiting(id);
}

/** Runs a call whose approver changed its arguments. Another person may have to approve them. */
async function runEdited(holds: HoldsUnderTest): Promise<AskedCall & { id: string }> {
  const call = await holds.held();
  const args = { to: 'A-1042', amount: 0 };
  await holds.decideNow(call.id, 'approve', { args });
  await holds.expectRun(call.id, args, () => holds.decide(call.id, 'approve', { by: 'ben' }));
  return call;
}
