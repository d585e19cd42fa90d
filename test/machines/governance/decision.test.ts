import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Caller, Deferral } from '../../../src/machines/domain/task.ts';
import type { DecisionAttempt } from '../../../src/machines/governance/approvers.ts';
import {
  answerCounted,
  answerMispinned,
  answerWithoutPending,
  isShortOfQuorum,
  settle,
  withApproval,
} from '../../../src/machines/governance/decision.ts';
import { aDeferral, anAttempt, digest, times } from '../../helpers/task-fixtures.ts';

describe('a decision pinned to the shown call', () => {
  it.each([
    ['nothing', {}, null],
    ['this deferral', { deferralId: 'call-1' }, null],
    ['these arguments', { argsSha256: digest }, null],
    ['these arguments in upper case', { argsSha256: digest.toUpperCase() }, null],
    ['both', { deferralId: 'call-1', argsSha256: digest }, null],
    ['another deferral', { deferralId: 'CALL-1' }, { kind: 'otherDeferral', pendingId: 'call-1' }],
    ['an empty deferral', { deferralId: '' }, { kind: 'otherDeferral', pendingId: 'call-1' }],
    ['other arguments', { argsSha256: '00' }, { kind: 'otherArguments', pendingSha256: digest }],
    ['empty arguments', { argsSha256: '' }, { kind: 'otherArguments', pendingSha256: digest }],
    ['what would run', { runsSha256: 'C3'.repeat(32) }, null],
    [
      'something else that would run',
      { argsSha256: digest, runsSha256: '' },
      { kind: 'otherRuns', pendingSha256: 'c3'.repeat(32) },
    ],
    [
      'another deferral with these arguments',
      { deferralId: 'call-2', argsSha256: digest },
      { kind: 'otherDeferral', pendingId: 'call-1' },
    ],
    [
      'this deferral with other arguments',
      { deferralId: 'call-1', argsSha256: 'b2'.repeat(32) },
      { kind: 'otherArguments', pendingSha256: digest },
    ],
  ])('that was %s', (_, pins, expected) => {
    const deferral = aDeferral({ runsSha256: 'c3'.repeat(32) });
    expect(answerMispinned(deferral, anAttempt(pins))).toEqual(expected);
  });
});

describe('a quorum', () => {
  function count(quorum: number, ...attempts: Partial<DecisionAttempt>[]): Deferral {
    return attempts.reduce(
      (deferral, attempt) => withApproval(deferral, anAttempt({ approver: null, ...attempt })),
      aDeferral({ quorum }),
    );
  }

  it('of one is reached by the first approval', () => {
    expect(isShortOfQuorum(aDeferral(), anAttempt())).toBe(false);
  });

  it('of two needs a second approval', () => {
    const one = count(2, { approver: 'Ann' });
    expect(isShortOfQuorum(aDeferral({ quorum: 2 }), anAttempt({ approver: 'Ann' }))).toBe(true);
    expect(isShortOfQuorum(one, anAttempt({ approver: 'Bob' }))).toBe(false);
  });

  it.each([
    ['one name', { approver: 'Ann' }, { approver: ' ann ' }],
    ['one email', { email: 'ann@example.com' }, { email: 'ANN@example.com' }],
    [
      'one email under two names',
      { approver: 'Ann', email: 'ann@example.com' },
      { approver: 'Somebody else', email: ' Ann@Example.com' },
    ],
    ['no named approver', {}, { approver: ' ' }],
  ])('counts %s once', (_, first, second) => {
    const one = count(2, { ...first, at: 10 });
    expect(withApproval(one, anAttempt({ approver: null, ...second, at: 20 }))).toEqual(one);
    expect(isShortOfQuorum(one, anAttempt({ approver: null, ...second }))).toBe(true);
  });

  it('counts two people with one name by their emails', () => {
    const two = count(
      3,
      { approver: 'Ann', email: 'ann.a@example.com', at: 10 },
      { approver: 'Ann', email: 'ann.b@example.com', at: 20 },
    );
    expect(two.approvals).toEqual([
      { approver: 'ann.a@example.com', at: 10 },
      { approver: 'ann.b@example.com', at: 20 },
    ]);
  });

  describe('with different callers', () => {
    const ann = { provider: 'sso', userId: 'ann', email: 'ann@example.com' };
    const bob = { provider: 'sso', userId: 'bob', email: 'bob@example.com' };
    const clerk = { provider: 'chat', userId: 'slack:T1/U1', email: 'ann@example.com' };
    const as = (caller: Caller | null, email: string) => ({ caller, email, approver: null });
    const two = { quorum: 2, distinctCallers: true };

    it.each([
      [
        'one token that names two approvers',
        as(ann, 'ann@example.com'),
        as(ann, 'bob@example.com'),
      ],
      ['two tokens that name one approver', as(ann, 'ann@example.com'), as(bob, 'ANN@example.com')],
      ['two identities of one person', as(ann, 'bob@example.com'), as(clerk, 'ann@example.com')],
      [
        "the daemon's own token twice",
        as({ provider: 'runtime', userId: 'runtime' }, 'ann@example.com'),
        as({ provider: 'runtime', userId: 'runtime' }, 'bob@example.com'),
      ],
    ])('counts %s once', (_, first, second) => {
      const one = withApproval(aDeferral(two), anAttempt(first));
      expect(isShortOfQuorum(one, anAttempt(second))).toBe(true);
      expect(withApproval(one, anAttempt(second))).toEqual(one);
    });

    it('counts two callers who name two approvers, and stores only who they are', () => {
      const one = withApproval(
        aDeferral(two),
        anAttempt(as({ ...ann, acr: 'gold', orgId: 'o' }, 'ann@example.com')),
      );
      expect(one.approvals).toEqual([
        { approver: 'ann@example.com', at: times.decided, caller: ann },
      ]);
      expect(isShortOfQuorum(one, anAttempt(as(bob, 'bob@example.com')))).toBe(false);
    });

    it('stores no email for a caller without one', () => {
      const token = { provider: 'runtime', userId: 'runtime' };
      const one = withApproval(aDeferral(two), anAttempt(as(token, 'ann@example.com')));
      expect(one.approvals).toStrictEqual([
        { approver: 'ann@example.com', at: times.decided, caller: token },
      ]);
    });

    it('counts approvers alone where callers do not sign in', () => {
      const one = withApproval(aDeferral(two), anAttempt(as(null, 'ann@example.com')));
      expect(isShortOfQuorum(one, anAttempt(as(null, 'bob@example.com')))).toBe(false);
      const token = { provider: 'runtime', userId: 'runtime' };
      const off = { quorum: 2, distinctCallers: false };
      const first = withApproval(aDeferral(off), anAttempt(as(token, 'ann@example.com')));
      expect(isShortOfQuorum(first, anAttempt(as(token, 'bob@example.com')))).toBe(false);
    });
  });

  it('is reached by as many different approvers as required, in any order', () => {
    const email = fc.constantFrom('a@x.org', 'A@x.org ', 'b@x.org', ' B@X.org', 'c@x.org');
    const attempt = fc.record({ email, approver: fc.option(fc.string()) });
    fc.assert(
      fc.property(fc.array(attempt), (attempts) => {
        const distinct = new Set(attempts.map((each) => each.email.trim().toLowerCase()));
        expect(count(9, ...attempts).approvals).toHaveLength(distinct.size);
      }),
    );
  });
});

describe('a decision that counts', () => {
  it('is stored with the call that it decided', () => {
    const attempt = anAttempt({ verb: 'reject', approver: null, email: 'ann@x.org', note: 'no' });
    expect(settle(aDeferral(), attempt)).toEqual({
      id: 'call-1',
      tool: 'issue_refund',
      approvers: null,
      argsSha256: digest,
      decision: 'reject',
      approver: 'ann@x.org',
      note: 'no',
      decidedAt: times.decided,
    });
  });

  it('is stored with every character of its note visible, and its lines unchanged', () => {
    const note = ' no\r\nway \u202E\u0007\ud83d ';
    expect(settle(aDeferral(), anAttempt({ note })).note).toBe('no\nway [U+202E][U+0007]\ufffd');
  });

  it.each(['resolved', 'recorded'] as const)('is answered with %s', (kind) => {
    expect(answerCounted(kind, aDeferral(), anAttempt({ approver: null }))).toEqual({
      kind,
      deferralId: 'call-1',
      decision: 'approve',
      approver: 'unknown',
    });
  });
});

describe('a decision on a task without a pending call', () => {
  it('names the first decider, or states that nothing is pending', () => {
    const settled = settle(aDeferral(), anAttempt());
    expect(answerWithoutPending(settled)).toEqual({ kind: 'decided', settled });
    expect(answerWithoutPending(null)).toEqual({ kind: 'notPending' });
  });
});
