import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { HoldAccount } from '../../../src/machines/domain/hold.ts';
import {
  accountAfter,
  accountDueAt,
  type HoldEvent,
} from '../../../src/machines/hold/hold-machine.ts';

const granted: HoldAccount = { state: 'granted', releasedAt: null, outcome: null };
const released: HoldAccount = { state: 'released', releasedAt: 5, outcome: null };
const unaccounted: HoldAccount = { state: 'unaccounted', releasedAt: 5, outcome: null };
const succeeded = { status: 'succeeded' } as const;
const failed = { status: 'failed', error: 'no space left' } as const;
const unrun = { status: 'not_run' } as const;
const taken: HoldEvent = { type: 'hold.taken', at: 5 };
const closed: HoldEvent = { type: 'hold.closed', outcome: succeeded };
const overdue: HoldEvent = { type: 'hold.overdue' };

it.each<[string, HoldAccount, HoldEvent, HoldAccount]>([
  ['an approved call is received', granted, taken, released],
  ['a call that was not received cannot have run', granted, closed, granted],
  [
    'an approved call is called off unreceived',
    granted,
    { type: 'hold.closed', outcome: unrun },
    { ...granted, state: 'closed', outcome: unrun },
  ],
  ['a call that nobody received is not overdue', granted, overdue, granted],
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

const outcomes = fc.constantFrom(succeeded, failed, unrun);
const events = fc.oneof(
  fc.nat(99).map((at): HoldEvent => ({ type: 'hold.taken', at })),
  outcomes.map((outcome): HoldEvent => ({ type: 'hold.closed', outcome })),
  fc.constant(overdue),
);

it('has at most one release and one outcome in any order of events', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 12 }), (story) => {
      let account = granted;
      const releases = new Set<number>();
      const ends = new Set<object>();
      for (const event of story) {
        account = accountAfter(account, event);
        if (account.releasedAt !== null) releases.add(account.releasedAt);
        if (account.outcome !== null) ends.add(account.outcome);
      }
      const release = story.findIndex(({ type }) => type === 'hold.taken');
      const first = story.find(
        (event, index) =>
          event.type === 'hold.closed' &&
          (event.outcome === unrun || (release >= 0 && index > release)),
      );
      expect(releases.size).toBeLessThanOrEqual(1);
      expect([...ends]).toEqual(first?.type === 'hold.closed' ? [first.outcome] : []);
      expect(account.state === 'closed').toBe(first !== undefined);
    }),
  );
});

it('is due some time after the release, until the outcome', () => {
  const hold = { key: 'k', tool: 'Bash', askedSha256: '', outcomeWithin: 10 };
  const due = (account?: HoldAccount) =>
    accountDueAt({ ...hold, ...(account === undefined ? {} : { account }) });
  expect([due(), due(granted), due(released), due(unaccounted)]).toEqual([null, null, 15, null]);
  expect(accountDueAt(undefined)).toBeNull();
});
