import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { HoldAccount } from '../../../src/machines/domain/hold.ts';
import {
  accountAfter,
  accountDueAt,
  type HoldEvent,
} from '../../../src/machines/hold/hold-machine.ts';
import { isReceivedElsewhere } from '../../../src/machines/task/held-elsewhere.ts';

const granted: HoldAccount = {
  ...{ state: 'granted', grantedAt: 1, releasedAt: null, outcome: null },
};
const released: HoldAccount = { ...granted, state: 'released', releasedAt: 5 };
const unaccounted: HoldAccount = { ...released, state: 'unaccounted' };
const withdrawn = (status: 'expired' | 'denied', reason: string): HoldAccount => ({
  ...{ ...granted, state: 'withdrawn', withdrawn: { status, reason } },
});
const succeeded = { status: 'succeeded' } as const;
const failed = { status: 'failed', error: 'no space left' } as const;
const unrun = { status: 'not_run' } as const;
const taken: HoldEvent = { type: 'hold.taken', at: 5 };
const closed: HoldEvent = { type: 'hold.closed', outcome: succeeded };
const overdue: HoldEvent = { type: 'hold.overdue' };
const forbidden: HoldEvent = { type: 'hold.forbidden', reason: 'no' };

it.each<[string, HoldAccount, HoldEvent, HoldAccount]>([
  ['an approved call is received', granted, taken, released],
  ['a call that was not received cannot have run', granted, closed, granted],
  [
    'an approved call is canceled before it is received',
    granted,
    { type: 'hold.closed', outcome: unrun },
    { ...granted, state: 'closed', outcome: unrun },
  ],
  [
    'an approved call is not received in time',
    granted,
    overdue,
    withdrawn(
      'expired',
      'the call was approved, and its program did not fetch it in time; ask again with another key',
    ),
  ],
  ['the policy denies an approved call', granted, forbidden, withdrawn('denied', 'no')],
  [
    'an approved call may have been received before its store was restored',
    granted,
    { type: 'hold.restored' },
    { ...granted, state: 'unaccounted' },
  ],
  [
    'a received call is still due in a restored store',
    released,
    { type: 'hold.restored' },
    released,
  ],
  ['a received call is denied too late', released, forbidden, released],
  [
    'a call is received by a process with a claim',
    granted,
    { type: 'hold.taken', at: 5, claim: 'p' },
    { ...released, claim: 'p' },
  ],
  ['a received call stays received', released, { type: 'hold.taken', at: 9 }, released],
  ['a received call ends', released, closed, { ...released, state: 'closed', outcome: succeeded }],
  ['no outcome arrives in time', released, overdue, unaccounted],
  [
    'an outcome arrives late',
    unaccounted,
    closed,
    { ...unaccounted, state: 'closed', outcome: succeeded },
  ],
])('%s', (_, before, event, after) => {
  expect(accountAfter(before, event)).toEqual(after);
});

it('keeps the first outcome', () => {
  const end = accountAfter(released, closed);
  expect(accountAfter(end, { type: 'hold.closed', outcome: failed })).toBe(end);
  expect(accountAfter(end, taken)).toBe(end);
  expect(accountAfter(end, overdue)).toBe(end);
});

it('a hold never runs a call whose approval was withdrawn', () => {
  const end = accountAfter(granted, forbidden);
  for (const event of [taken, closed, overdue, forbidden]) {
    expect(accountAfter(end, event)).toBe(end);
  }
});

it.each<[HoldAccount, string | undefined, boolean]>([
  [granted, undefined, false],
  [released, undefined, true],
  [released, 'p', true],
  [{ ...released, claim: 'p' }, 'p', false],
  [{ ...released, claim: 'p' }, 'q', true],
  [{ ...released, claim: 'p' }, undefined, true],
])('a hold is received at another daemon, %#', (account, claim, isElsewhere) => {
  expect(isReceivedElsewhere(account, claim)).toBe(isElsewhere);
});

const outcomes = fc.constantFrom(succeeded, failed, unrun);
const events = fc.oneof(
  fc.nat(99).map((at): HoldEvent => ({ type: 'hold.taken', at })),
  outcomes.map((outcome): HoldEvent => ({ type: 'hold.closed', outcome })),
  fc.constantFrom(overdue, forbidden),
);

/** The state after each event; an event that is not here changes nothing. */
const model: Record<HoldAccount['state'], Record<string, HoldAccount['state']>> = {
  granted: {
    'hold.taken': 'released',
    'hold.overdue': 'withdrawn',
    'hold.forbidden': 'withdrawn',
    not_run: 'closed',
  },
  released: {
    'hold.overdue': 'unaccounted',
    ...{ succeeded: 'closed', failed: 'closed', not_run: 'closed' },
  },
  unaccounted: { succeeded: 'closed', failed: 'closed', not_run: 'closed' },
  closed: {},
  withdrawn: {},
};

it('a hold follows its table of states, with one release and one outcome, in any order of events', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 12 }), (story) => {
      let account = granted;
      let due: HoldAccount = granted;
      for (const event of story) {
        const name = event.type === 'hold.closed' ? event.outcome.status : event.type;
        const state = model[due.state][name] ?? due.state;
        const isChanged = state !== due.state;
        due = {
          ...due,
          state,
          ...(isChanged && event.type === 'hold.taken' ? { releasedAt: event.at } : {}),
          ...(isChanged && event.type === 'hold.closed' ? { outcome: event.outcome } : {}),
        };
        const before = account;
        account = accountAfter(before, event);
        const { withdrawn: why, ...kept } = account;
        expect(kept).toEqual(due);
        expect(why !== undefined).toBe(state === 'withdrawn');
        if (!isChanged) expect(account).toBe(before);
      }
    }),
  );
});

it('a hold is due for some time after the approval and the release, until the outcome', () => {
  const hold = { key: 'k', tool: 'Bash', askedSha256: '', releaseWithin: 100, outcomeWithin: 10 };
  const due = (account?: HoldAccount) =>
    accountDueAt({ ...hold, ...(account === undefined ? {} : { account }) });
  expect([due(), due(granted), due(released), due(unaccounted)]).toEqual([null, 101, 15, null]);
  expect(accountDueAt(undefined)).toBeNull();
});
