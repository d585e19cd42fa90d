import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  approverEmail,
  approverName,
  effectiveApprovers,
  isApprover,
  isRefused,
  normaliseApprovers,
} from '../../../src/machines/governance/approvers.ts';
import { aCaller, aDeferral, anAttempt } from '../../helpers/task-fixtures.ts';

const ann = aCaller({ userId: 'ann', email: 'ann@example.com' });
const chat = aCaller({ provider: 'runtime', userId: 'runtime', email: 'bot@example.com' });

describe('the allowlist of a tool', () => {
  it('is trimmed, in lower case and without blanks', () => {
    expect(normaliseApprovers([' Ann@Example.COM ', '', '  ', 'bob@example.com'])).toEqual([
      'ann@example.com',
      'bob@example.com',
    ]);
  });

  it.each([
    ['its own list', ['ann@example.com'], ['bob@example.com'], ['ann@example.com']],
    ['the default when it has none', [], [' BOB@example.com '], ['bob@example.com']],
    ['the default when its own is blank', ['', ' '], ['bob@example.com'], ['bob@example.com']],
    ['none when both are empty', [], [], null],
    ['none when both are blank', [' '], [''], null],
    ['its own even when nobody can match it', ['everyone'], ['bob@example.com'], ['everyone']],
  ])('is %s', (_, own, fallback, expected) => {
    expect(effectiveApprovers(own, fallback)).toEqual(expected);
  });
});

describe('isApprover', () => {
  it.each([
    [null, null, true],
    [null, '', true],
    [null, 'anyone@example.com', true],
    [['ann@example.com'], 'ann@example.com', true],
    [['ann@example.com'], '  ANN@Example.com ', true],
    [['ann@example.com'], 'bob@example.com', false],
    [['ann@example.com'], 'ann@example.com.evil.org', false],
    [['ann@example.com'], '', false],
    [['ann@example.com'], null, false],
    [['everyone'], 'ann@example.com', false],
    [['ann'], 'ann', false],
    [['bo@localhost'], 'bo@localhost', false],
    [[], 'ann@example.com', false],
  ])('of list %j says of %j: %s', (approvers, email, expected) => {
    expect(isApprover(approvers, email)).toBe(expected);
  });

  it('never lets a malformed entry match', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', '.', ' ') })), (list) => {
        const matched = list.filter((entry) => isApprover(normaliseApprovers(list), entry));
        expect(matched).toEqual([]);
      }),
    );
  });

  it('never lets a blank email pass a list', () => {
    const blank = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\u00a0') });
    fc.assert(
      fc.property(fc.array(fc.string()), blank, (list, email) => {
        expect(isApprover(normaliseApprovers(list), email)).toBe(false);
      }),
    );
  });
});

describe('who decides', () => {
  const bound = aDeferral({ bindApprover: true });
  it.each([
    ['the asserted email', aDeferral(), { email: 'Bob@example.com' }, 'Bob@example.com'],
    ['nobody', aDeferral(), { email: '  ' }, null],
    [
      'the asserted email beside a token',
      aDeferral(),
      { email: 'b@x.org', caller: ann },
      'b@x.org',
    ],
    ['the verified email when bound', bound, { caller: ann }, 'ann@example.com'],
    ['the asserted email of a chat click', bound, { email: 'b@x.org', caller: chat }, 'b@x.org'],
    ['nobody for a chat click without one', bound, { caller: chat }, null],
    ['the asserted email without a token', bound, { email: 'b@x.org' }, 'b@x.org'],
  ])('is %s', (_, deferral, attempt, expected) => {
    expect(approverEmail(deferral, anAttempt(attempt))).toBe(expected);
  });

  it.each([
    [aDeferral(), { approver: ' Ann ', email: 'ann@example.com' }, 'Ann'],
    [aDeferral(), { approver: null, email: ' ann@example.com ' }, 'ann@example.com'],
    [aDeferral(), { approver: '  ', email: '' }, 'unknown'],
    [aDeferral(), { approver: null, caller: ann }, 'unknown'],
    [bound, { approver: 'Somebody else', caller: ann }, 'ann@example.com'],
    [bound, { approver: 'Bob', caller: chat }, 'Bob'],
  ])('is recorded under one name (%#)', (deferral, attempt, expected) => {
    expect(approverName(deferral, anAttempt(attempt))).toBe(expected);
  });
});

describe('an allowlist', () => {
  const listed = aDeferral({ approvers: ['ann@example.com'] });
  it.each([
    ['lets a listed email decide, in any case', { email: ' ANN@example.com' }, false],
    ['refuses an unlisted email', { email: 'bob@example.com' }, true],
    ['refuses no email', { email: null }, true],
    ['refuses an empty email', { email: '' }, true],
    ['refuses a listed name without the email', { approver: 'ann@example.com' }, true],
    ['refuses a listed token without the email', { caller: ann }, true],
    ['refuses an unlisted reject', { verb: 'reject', email: 'bob@example.com' }, true],
  ] as const)('%s', (_, attempt, expected) => {
    expect(isRefused(listed, anAttempt({ approver: null, ...attempt }), null)).toBe(expected);
  });
});

describe('bind_approver', () => {
  const bound = aDeferral({ bindApprover: true, approvers: ['ann@example.com'] });
  const bob = aCaller({ userId: 'bob', email: 'bob@example.com' });
  const emailless = aCaller({ userId: 'job', email: '  ' });
  it.each([
    ['takes the verified email', { caller: ann }, false],
    ['takes the same asserted email', { caller: ann, email: 'Ann@Example.com' }, false],
    ['refuses another asserted email', { caller: ann, email: 'bob@example.com' }, true],
    ['refuses an asserted email that is listed', { caller: bob, email: 'ann@example.com' }, true],
    ['refuses a verified email that is not listed', { caller: bob }, true],
    ['trusts what the chat adapter resolved', { caller: chat, email: 'ann@example.com' }, false],
    ['refuses a click whose email is unresolved', { caller: chat }, true],
    [
      'trusts the assertion beside a token without one',
      { caller: emailless, email: 'ann@example.com' },
      false,
    ],
  ])('%s', (_, attempt, expected) => {
    expect(isRefused(bound, anAttempt(attempt), null)).toBe(expected);
  });
});

describe('a way that nobody vouches for', () => {
  it.each(['approve', 'reject'] as const)('lets no %s through, listed or not', (verb) => {
    const attempt = anAttempt({ verb, email: 'ann@example.com', isUntrusted: true });
    expect(isRefused(aDeferral(), attempt, null)).toBe(true);
    expect(isRefused(aDeferral({ approvers: ['ann@example.com'] }), attempt, null)).toBe(true);
  });
});

describe('four_eyes', () => {
  const guarded = aDeferral({ fourEyes: true });
  const rita = aCaller();
  const sameUser = aCaller({ email: 'other@example.com' });
  const elsewhere = aCaller({ provider: 'sso', userId: 'r.smith' });
  const stranger = aCaller({ userId: 'sam', email: 'sam@example.com' });
  it.each([
    ['refuses the requester', { caller: rita }, true],
    ['refuses the requester under another email', { caller: sameUser }, true],
    ['refuses the requester of another provider by email', { caller: elsewhere }, true],
    [
      'refuses the requester a chat adapter speaks for',
      { caller: chat, email: 'RITA@example.com ' },
      true,
    ],
    ['refuses the requester by asserted email', { email: 'rita@example.com' }, true],
    ['refuses the requester by name', { approver: 'Rita@Example.com' }, true],
    [
      'refuses the requester who asserts another email',
      { caller: rita, email: 'ann@example.com' },
      true,
    ],
    ['refuses a reject of the requester too', { verb: 'reject', caller: rita }, true],
    ['lets somebody else decide', { caller: stranger }, false],
    ['lets a click of somebody else decide', { caller: chat, email: 'ann@example.com' }, false],
  ] as const)('%s', (_, attempt, expected) => {
    expect(isRefused(guarded, anAttempt(attempt), rita)).toBe(expected);
  });

  it('lets the requester decide where it is off', () => {
    expect(isRefused(aDeferral(), anAttempt({ caller: rita }), rita)).toBe(false);
  });

  it('does not take everybody in a channel for the requester because one adapter speaks for all', () => {
    const click = anAttempt({ caller: chat, email: 'ann@example.com' });
    expect(isRefused(guarded, click, chat)).toBe(false);
  });

  it('knows whoever asked in a chat by their id there, email or not', () => {
    const asked = aCaller({ provider: 'runtime', userId: 'slack:T1/U1' });
    const own = anAttempt({
      caller: { provider: 'runtime', userId: 'slack:T1/U1' },
      email: 'a@b.cd',
    });
    const other = anAttempt({ caller: { provider: 'runtime', userId: 'slack:T1/U2' } });
    expect([isRefused(guarded, own, asked), isRefused(guarded, other, asked)]).toEqual([
      true,
      false,
    ]);
  });

  it('takes no two identities without an email for the same one', () => {
    const requester = { provider: 'ops', userId: 'one' };
    const other = { provider: 'ops', userId: 'two' };
    expect(isRefused(guarded, anAttempt({ caller: other }), requester)).toBe(false);
  });
});
