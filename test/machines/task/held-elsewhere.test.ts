import { describe, expect, it } from 'vitest';
import type {
  GrantedCall,
  Hold,
  HoldOutcome,
  Withdrawal,
} from '../../../src/machines/domain/hold.ts';
import type { RanCall, Task } from '../../../src/machines/domain/task.ts';
import type { Ruling } from '../../../src/machines/governance/ruling.ts';
import type { HoldEvent } from '../../../src/machines/hold/hold-machine.ts';
import { holdAfter, isSameOutcome } from '../../../src/machines/task/held-elsewhere.ts';
import { begin, finish, released, step } from '../../helpers/step-task.ts';
import { aTask } from '../../helpers/stored-tasks.ts';
import {
  aCall,
  accepted,
  aDeferral,
  allowed,
  anAttempt,
  aSettledDeferral,
  deferred,
  digest,
  runsDigest,
  times,
} from '../../helpers/task-fixtures.ts';

const requested: Hold = {
  key: 'k',
  tool: 'Bash',
  askedSha256: digest,
  ...{ releaseWithin: 90_000, outcomeWithin: 60_000 },
};
const granted: GrantedCall = {
  ...{ callId: 'call-1', args: {}, argsSha256: digest },
  ...{ runsSha256: runsDigest, deferralId: 'call-1' },
};
const mark = {
  ...{ callId: 'call-1', deferralId: 'call-1', argsSha256: digest, runsSha256: runsDigest },
};
const started: RanCall = {
  ...{ tool: 'Bash', callId: 'call-1', argsSha256: digest, args: '{}' },
  ...{ outcome: 'unknown', at: 5 },
};
const { approvers: _, ...settled } = aSettledDeferral({ id: 'call-1' });
const decided = [{ ...settled, by: [null] }];

function receivedHold(): Task {
  const account = { state: 'released', grantedAt: 500, releasedAt: 1_000, outcome: null } as const;
  const hold = { ...requested, granted, account };
  return aTask({ state: 'completed', hold, wakeAt: 61_000, ran: [started], decided });
}

function approvedHold(): Task {
  const account = { state: 'granted', grantedAt: 500, releasedAt: null, outcome: null } as const;
  const hold = { ...requested, granted, account };
  const approved = aDeferral({ id: 'call-1' });
  return aTask({ state: 'completed', hold, approved, wakeAt: 90_500, ran: [started], decided });
}

const closed = (outcome: HoldOutcome) =>
  holdAfter(receivedHold(), { type: 'hold.closed', outcome });

describe('a granted hold', () => {
  it('is due from its release', () => {
    const step = holdAfter(approvedHold(), { type: 'hold.taken', at: 1_000, claim: 'p-1' });
    expect(step?.facts).toEqual([{ type: 'hold.released', call: mark, tool: 'Bash' }]);
    const account = { state: 'released', grantedAt: 500, releasedAt: 1_000, outcome: null };
    expect(step?.task.hold).toEqual({
      ...requested,
      granted,
      account: { ...account, claim: 'p-1' },
    });
    expect(step?.task.wakeAt).toBe(61_000);
    expect(step?.task).not.toHaveProperty('approved');
  });

  it.each<[HoldEvent, Withdrawal]>([
    [
      { type: 'hold.overdue' },
      {
        status: 'expired',
        reason:
          'the call was approved, and its program did not fetch it in time; ask again with another key',
      },
    ],
    [
      { type: 'hold.forbidden', reason: 'Bash is a denied tool' },
      { status: 'denied', reason: 'Bash is a denied tool' },
    ],
  ])('that is not used never ran, %#', (event, withdrawn) => {
    const step = holdAfter(approvedHold(), event);
    const { reason } = withdrawn;
    expect(step?.facts).toEqual([{ type: 'hold.withdrawn', call: mark, tool: 'Bash', reason }]);
    expect(step?.task.hold?.account).toEqual({
      ...{ state: 'withdrawn', grantedAt: 500, releasedAt: null, outcome: null, withdrawn },
    });
    expect(step?.task.hold?.granted).toEqual(granted);
    expect([step?.task.wakeAt, step?.task.ran]).toEqual([null, undefined]);
    expect(step?.task.decided?.map(({ outcome }) => outcome)).toEqual([{ kind: 'neverRan' }]);
  });

  it.each<[HoldOutcome, Task['ran'], object]>([
    [{ status: 'succeeded' }, [{ ...started, outcome: 'succeeded' }], { kind: 'ran' }],
    [
      { status: 'failed', error: 'x'.repeat(301) },
      [{ ...started, outcome: 'failed' }],
      { kind: 'failed', error: 'x'.repeat(300) },
    ],
    [{ status: 'not_run' }, [{ ...started, outcome: 'not_run' }], { kind: 'neverRan' }],
  ])('ends with an outcome, %#', (outcome, ran, told) => {
    const step = closed(outcome);
    expect(step?.facts).toEqual([{ type: 'hold.closed', call: mark, tool: 'Bash', ...outcome }]);
    expect([step?.task.wakeAt, step?.task.ran]).toEqual([null, ran]);
    expect(step?.task.decided?.map((one) => one.outcome)).toEqual([told]);
    expect(step?.task.hold?.account).toEqual({
      ...{ state: 'closed', grantedAt: 500, releasedAt: 1_000, outcome },
    });
  });

  it('that its program never received does not count as started', () => {
    const step = holdAfter(approvedHold(), { type: 'hold.closed', outcome: { status: 'not_run' } });
    expect(step?.task.ran).toBeUndefined();
    expect(step?.task.decided?.map((one) => one.outcome)).toEqual([{ kind: 'neverRan' }]);
  });

  it('gives back what it reserved of a limit if it did not run', () => {
    const entry = { kind: 'limit', name: 'pay', key: '{}', amount: '1', until: 9 } as const;
    const ran = [{ ...started, reserved: [entry, { ...entry, kind: 'effect' as const }] }];
    const event = { type: 'hold.closed', outcome: { status: 'not_run' } } as const;
    expect(holdAfter({ ...receivedHold(), ran }, event)?.facts).toEqual([
      { type: 'hold.closed', call: mark, tool: 'Bash', status: 'not_run' },
      { type: 'limit.returned', call: mark, tool: 'Bash', entries: [entry] },
    ]);
  });

  it('without an outcome is unaccounted for', () => {
    const step = holdAfter(receivedHold(), { type: 'hold.overdue' });
    const within = 60_000;
    expect(step?.facts).toEqual([{ type: 'hold.unaccounted', call: mark, tool: 'Bash', within }]);
    expect(step?.task.decided?.map(({ outcome }) => outcome)).toEqual([{ kind: 'unknown' }]);
    expect([step?.task.wakeAt, step?.task.ran]).toEqual([null, [started]]);
  });

  it('does not change after its end, or before its grant', () => {
    const end = closed({ status: 'succeeded' })?.task ?? aTask();
    expect(holdAfter(end, { type: 'hold.closed', outcome: { status: 'failed' } })).toBeNull();
    expect(holdAfter(aTask({ hold: requested }), { type: 'hold.taken', at: 1 })).toBeNull();
    expect(holdAfter(aTask(), { type: 'hold.overdue' })).toBeNull();
  });
});

it.each<[HoldOutcome | null, boolean]>([
  [{ status: 'failed', error: 'a', resultSha256: digest }, true],
  [{ status: 'succeeded', error: 'a', resultSha256: digest }, false],
  [{ status: 'failed', error: 'b', resultSha256: digest }, false],
  [{ status: 'failed', error: 'a', resultSha256: runsDigest }, false],
  [{ status: 'failed', error: 'a' }, false],
  [null, false],
])('%j is the same outcome: %s', (known, isSame) => {
  const other = { status: 'failed', error: 'a', resultSha256: digest } as const;
  expect(isSameOutcome(known, other)).toBe(isSame);
});

const { id: callId, args, argsSha256 } = aCall();
const callGranted = { callId, args, argsSha256 };

describe('a run of a hold', () => {
  const stated = { agent: 'bot', context: { cwd: '/a\u202e' }, claim: 'p-1' };
  const hold = { ...requested, ...stated, runsSha256: runsDigest };
  const input = { calls: [{ tool: 'issue_refund', args: { order: 7 } }], hasModel: false, hold };
  const ruled = (ruling: Ruling) =>
    finish(finish(begin(input), 'accept', accepted()), 'govern', ruling);

  it('ends where its call may run, and is received at once if no approval was needed', () => {
    const { snapshot } = ruled(allowed());
    const { granted: call, account } = snapshot.context.run.hold ?? {};
    expect([snapshot.value, snapshot.context.pending]).toEqual(['completed', []]);
    expect(call).toEqual({ ...callGranted, runsSha256: runsDigest });
    const { thought: grantedAt } = times;
    const received = { grantedAt, releasedAt: grantedAt, outcome: null, claim: 'p-1' };
    expect(account).toEqual({ state: 'released', ...received });
  });

  it('waits with the arguments of its program, and ends with a rejection', () => {
    const rule = { onReject: 'tool_result', onTimeout: 'tool_result', context: 'refund' } as const;
    const waiting = ruled(deferred(aDeferral(rule)));
    const { deferral } = waiting.snapshot.context;
    expect(deferral).toMatchObject({
      onReject: 'fail',
      context: 'refund\nagent="bot"\ncontext={"cwd":"/a[U+202E]"}',
    });
    expect(deferral).not.toHaveProperty('onTimeout');
    const attempt = anAttempt({ verb: 'reject' });
    expect(step(waiting, { type: 'deferral.decide', attempt }).snapshot.value).toBe('failed');
  });

  it('is granted at the approval, and received later', () => {
    const { snapshot } = released(ruled(deferred()));
    const { granted: call, account } = snapshot.context.run.hold ?? {};
    expect(snapshot.value).toBe('completed');
    expect(call?.deferralId).toBe('call-1');
    expect(snapshot.context.held?.deferral.id).toBe('call-1');
    expect(account).toEqual({
      state: 'granted',
      grantedAt: snapshot.context.now,
      releasedAt: null,
      outcome: null,
    });
  });
});
