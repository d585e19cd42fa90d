import { describe, expect, it } from 'vitest';
import type { HoldAccount } from '../../../src/machines/domain/hold.ts';
import type { LedgerEntry } from '../../../src/machines/domain/ledger.ts';
import type { RanCall, Task } from '../../../src/machines/domain/task.ts';
import { ledgerChanges } from '../../../src/machines/task/ledger-changes.ts';

const entries: LedgerEntry[] = [{ kind: 'effect', name: 'pay', key: 'pay:1', until: null }];

function ran(change: Partial<RanCall> = {}): RanCall {
  const call = { tool: 'pay', callId: 'call-1', argsSha256: 'a', args: '{}', at: 1 } as const;
  return { ...call, outcome: 'unknown', reserved: entries, ...change };
}

function version(calls: RanCall[], startedCall: string | null = null, task: Partial<Task> = {}) {
  return { task: { ran: calls, ...task } as Task, startedCall };
}

const started = { type: 'started', callId: 'call-1', tool: 'pay', argsSha256: 'a', at: 1 } as const;

const ended = { type: 'ended', callId: 'call-1', tool: 'pay', argsSha256: 'a' } as const;

describe('the changes of the ledger', () => {
  it('store a reservation with the start of its call, and the approver', () => {
    const call = ran({ approver: 'ann@example.com' });
    expect(ledgerChanges(version([]), version([call], 'call-1'))).toEqual([
      { ...started, entries, approver: 'ann@example.com' },
    ]);
    expect(ledgerChanges(version([call], 'call-1'), version([call], 'call-1'))).toEqual([]);
  });

  it.each([
    ['succeeded', 'succeeded'],
    ['failed', 'failed'],
    ['withheld', 'succeeded'],
    ['unknown', 'unknown'],
  ] as const)('store the end of a call with the outcome %s', (outcome, end) => {
    const before = version([ran()], 'call-1');
    const after = version([ran({ outcome })]);
    expect(ledgerChanges(before, after)).toEqual([{ ...ended, end }]);
    expect(ledgerChanges(after, after)).toEqual([]);
  });

  it('give back what a call reserved that did not run', () => {
    expect(ledgerChanges(version([ran()], 'call-1'), version([]))).toEqual([
      { ...ended, end: 'not_run' },
    ]);
  });

  it('keep the calls of earlier runs, also those that the task no longer lists', () => {
    const before = version([ran({ outcome: 'succeeded' })]);
    const earlier = ran({ outcome: 'succeeded', isEarlier: true });
    expect(ledgerChanges(before, version([earlier]))).toEqual([]);
    expect(ledgerChanges(before, version([]))).toEqual([]);
  });

  it('store the start and an unknown outcome of a call without limits, and no other end', () => {
    const { reserved: _, ...bare } = ran();
    expect(ledgerChanges(version([]), version([bare], 'call-1'))).toEqual([
      { ...started, entries: [] },
    ]);
    expect(ledgerChanges(version([bare], 'call-1'), version([bare]))).toEqual([
      { ...ended, end: 'unknown' },
    ]);
    const known = { ...bare, outcome: 'succeeded' } as const;
    expect(ledgerChanges(version([bare], 'call-1'), version([known]))).toEqual([]);
  });

  describe('for a call that another program runs', () => {
    const account = (change: Partial<HoldAccount>): Partial<Task> => ({
      hold: {
        account: { state: 'released', grantedAt: 1, releasedAt: 1, outcome: null, ...change },
      } as Task['hold'] & object,
    });
    const running = version([ran()], null, account({}));

    it('reserve until the program reports an outcome', () => {
      expect(ledgerChanges(version([]), running)).toEqual([{ ...started, entries }]);
      const closed = account({ state: 'closed', outcome: { status: 'not_run' } });
      expect(ledgerChanges(running, version([ran({ outcome: 'not_run' })], null, closed))).toEqual([
        { ...ended, end: 'not_run' },
      ]);
    });

    it('have an unknown outcome until the program reports a late one', () => {
      const lost = version([ran()], null, account({ state: 'unaccounted' }));
      expect(ledgerChanges(running, lost)).toEqual([{ ...ended, end: 'unknown' }]);
      const late = account({ state: 'closed', outcome: { status: 'succeeded' } });
      expect(ledgerChanges(lost, version([ran({ outcome: 'succeeded' })], null, late))).toEqual([
        { ...ended, end: 'succeeded', wasUnknown: true },
      ]);
    });

    it('give back what an approval that was never fetched had reserved', () => {
      const granted = version([ran()], null, account({ state: 'granted', releasedAt: null }));
      const gone = account({ state: 'withdrawn', releasedAt: null });
      expect(ledgerChanges(granted, version([], null, gone))).toEqual([
        { ...ended, end: 'not_run' },
      ]);
    });
  });
});
