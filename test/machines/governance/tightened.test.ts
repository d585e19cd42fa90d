import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequiredReason } from '../../../src/machines/domain/rule-options.ts';
import type { Deferral } from '../../../src/machines/domain/task.ts';
import { isRefused } from '../../../src/machines/governance/approvers.ts';
import { isShortOfQuorum } from '../../../src/machines/governance/decision.ts';
import type { DeferRule } from '../../../src/machines/governance/defer-policy.ts';
import type { Standing } from '../../../src/machines/governance/standing.ts';
import { strictest } from '../../../src/machines/governance/strictest.ts';
import { stillCounting, tightened } from '../../../src/machines/governance/tightened.ts';
import { aCaller, aDeferRule, aDeferral, anAttempt } from '../../helpers/task-fixtures.ts';

const [ann, bo, eve] = ['ann@example.com', 'bo@example.com', 'eve@example.com'];

describe('a deferral under the policy in force', () => {
  it('drops the approvals of programs and of the requester', () => {
    const separation = { programs: ['ci'], deciders: [] };
    const approvals = ['ci', 'oidc', 'hook'].map((provider) => ({
      ...{ approver: `${provider}@example.com`, at: 1 },
      caller: { provider, userId: provider, email: `${provider}@example.com` },
    }));
    const asker = { provider: 'hook', userId: 'hook', email: 'hook@example.com' };
    const today = tightened(aDeferral({ approvals, quorum: 2 }), aDeferRule({ separation }), [
      asker,
    ]);
    expect(today.approvals.map(({ approver }) => approver)).toEqual(['oidc@example.com']);
    expect(today.separation).toEqual(separation);
  });

  it('is unchanged where the tool is no longer held', () => {
    const deferral = aDeferral({ approvers: [ann], quorum: 2 });
    expect(tightened(deferral, null, [])).toBe(deferral);
  });

  it.each<[string, string[] | null, string[] | null, string[] | null]>([
    ['both lists', [ann, bo], [bo, eve], [bo]],
    ['the stored list', [ann], null, [ann]],
    ["today's list", null, [bo], [bo]],
    ['no list', null, null, null],
  ])('is decided by people on %s', (_, stored, today, approvers) => {
    const rule = aDeferRule({ approvers: today });
    expect(tightened(aDeferral({ approvers: stored }), rule, []).approvers).toEqual(approvers);
  });

  it.each([
    [1, 2, 2],
    [3, 2, 3],
  ])('with a stored quorum of %d and a current one of %d needs %d', (stored, today, quorum) => {
    expect(tightened(aDeferral({ quorum: stored }), aDeferRule({ quorum: today }), []).quorum).toBe(
      quorum,
    );
  });

  it.each(['fourEyes', 'bindApprover', 'distinctCallers'] as const)(
    'requires %s when either rule does',
    (demand) => {
      for (const [stored, today] of [
        [true, false],
        [false, true],
        [false, false],
      ] as const) {
        const deferral = aDeferral({ [demand]: stored });
        const rule = aDeferRule({ [demand]: today });
        expect(tightened(deferral, rule, [])[demand] ?? false).toBe(stored || today);
      }
    },
  );

  it.each<[RequiredReason | undefined, RequiredReason | undefined, RequiredReason | undefined]>([
    [undefined, undefined, undefined],
    ['approve', undefined, 'approve'],
    [undefined, 'reject', 'reject'],
    ['reject', 'reject', 'reject'],
    ['approve', 'reject', 'both'],
    ['both', 'reject', 'both'],
  ])(
    'with a stored reason of %s and a current one of %s requires one for %s',
    (stored, today, demanded) => {
      const rule = (requireReason?: RequiredReason) =>
        requireReason === undefined ? {} : { requireReason };
      const { requireReason } = tightened(aDeferral(rule(stored)), aDeferRule(rule(today)), []);
      expect(requireReason).toBe(demanded);
    },
  );

  it('with a passkey required by either rule needs one, and counts no approval without it', () => {
    const approvals = [
      { approver: ann, at: 1, passkey: true as const },
      { approver: bo, at: 1 },
    ];
    const demands = (isDemanded: boolean) => (isDemanded ? { requirePasskey: true as const } : {});
    for (const [stored, today] of [
      [true, false],
      [false, true],
      [false, false],
    ] as const) {
      const deferral = aDeferral({ approvals, ...demands(stored) });
      const { requirePasskey, ...now } = tightened(deferral, aDeferRule(demands(today)), []);
      expect(requirePasskey ?? false).toBe(stored || today);
      expect(now.approvals.map(({ approver }) => approver)).toEqual(today ? [ann] : [ann, bo]);
    }
  });

  it('under two policies needs a passkey if one policy does', () => {
    const [with_, without] = [aDeferRule({ requirePasskey: true }), aDeferRule()];
    expect(strictest(with_, without).requirePasskey).toBe(true);
    expect(strictest(without, with_).requirePasskey).toBe(true);
    expect(strictest(without, without)).not.toHaveProperty('requirePasskey');
  });

  it('counts no approval that the current rule refuses', () => {
    const at = 1;
    const approvals = [
      { approver: ann, at, caller: aCaller({ userId: 'ann', email: ann }) },
      { approver: bo, at, caller: aCaller({ userId: 'carl', email: 'carl@example.com' }) },
      { approver: 'rita@example.com', at, caller: aCaller() },
      { approver: 'rita@example.com', at },
    ];
    const counted = (rule: Partial<DeferRule>): string[] =>
      tightened(aDeferral({ approvals }), aDeferRule(rule), [aCaller(), null]).approvals.map(
        ({ approver }) => approver,
      );
    expect(counted({})).toEqual(approvals.map(({ approver }) => approver));
    expect(counted({ approvers: [bo] })).toEqual([bo]);
    expect(counted({ bindApprover: true })).toEqual([ann, 'rita@example.com']);
    expect(counted({ fourEyes: true })).toEqual([ann, bo]);
  });

  it('counts a caller once who approved under two names before callers had to differ', () => {
    const caller = { provider: 'ops', userId: 'ann' };
    const approvals = [ann, bo].map((approver, at) => ({ approver, at, caller }));
    const rule = aDeferRule({ distinctCallers: true });
    expect(tightened(aDeferral({ approvals }), rule, []).approvals).toEqual(approvals.slice(0, 1));
  });

  it('counts an approver in a chat that has no email of them, where a token must name the approver', () => {
    const approval = { approver: 'Ann (U1)', at: 1, caller: { provider: 'chat', userId: 'T1:U1' } };
    const rule = aDeferRule({ bindApprover: true });
    expect(tightened(aDeferral({ approvals: [approval] }), rule, []).approvals).toEqual([approval]);
  });

  it('is released only by decisions that both rules allow', () => {
    const emails = fc.constantFrom(ann, bo, eve);
    const rules = fc.record({
      approvers: fc.option(fc.uniqueArray(emails, { minLength: 1 })),
      quorum: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(rules, rules, fc.uniqueArray(emails), emails, (was, is, all, last) => {
        const by = all.filter((email) => was.approvers?.includes(email) ?? true);
        const approvals = by.map((approver, at) => ({ approver, at }));
        const stored: Deferral = aDeferral({ ...was, approvals });
        const deferral = tightened(stored, aDeferRule(is), []);
        const attempt = anAttempt({ approver: last, email: last });
        const isReleased =
          !isRefused(deferral, attempt, null) && !isShortOfQuorum(deferral, attempt);
        const mayDecide = (email: string) =>
          [was, is].every(({ approvers }) => approvers === null || approvers.includes(email));
        const allowed = new Set(
          [...by, last].filter((email) => is.approvers?.includes(email) ?? true),
        );
        expect(isReleased && !mayDecide(last)).toBe(false);
        expect(isReleased && allowed.size < Math.max(was.quorum, is.quorum)).toBe(false);
      }),
    );
  });
});

describe('the approvals that still count', () => {
  const approvers = ['group:finance', 'oncall:ops', 'eve@example.com'];
  const standings: Record<string, Standing> = {
    [ann]: { as: ['group:finance'] },
    [bo]: { as: [], for: [{ email: ann, as: ['group:finance'] }] },
  };
  const standingOf = (email: string) => standings[email] ?? { as: [] };
  const counting = (approval: object) =>
    stillCounting(
      aDeferral({ approvers, approvals: [{ approver: 'cy@example.com', at: 1, ...approval }] }),
      standingOf,
    ).length;

  it.each<[string, object, number]>([
    ['of a member', { approver: ann, as: ['group:finance'] }, 1],
    ['of a person who has left the group', { as: ['group:finance'] }, 0],
    ['of a member by a token', { as: ['group:finance'], byToken: ['group:finance'] }, 1],
    ['of a person who was on call', { as: ['oncall:ops'] }, 1],
    ['of a listed person', { approver: eve }, 1],
    ['of a person whose delegation is valid', { approver: bo, for: ann, as: ['group:finance'] }, 1],
    ['for a person whose delegation has ended', { for: ann, as: ['group:finance'] }, 0],
  ])('include that %s: %j %d', (_, approval, expected) => {
    expect(counting(approval)).toBe(expected);
  });
});
