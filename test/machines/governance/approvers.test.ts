import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Caller, Deferral } from '../../../src/machines/domain/task.ts';
import {
  approverEmail,
  approverName,
  chatProvider,
  type DecisionAttempt,
  effectiveApprovers,
  isApprover,
  isRefused,
  maySeeWhole,
  normaliseApprovers,
  runtimeProvider,
  vouchedBy,
} from '../../../src/machines/governance/approvers.ts';
import type { PersonKey } from '../../../src/machines/governance/same-person.ts';
import { aCaller, aDeferral, anAttempt } from '../../helpers/task-fixtures.ts';

const ann = aCaller({ userId: 'ann', email: 'ann@example.com' });
const operator = { provider: 'runtime', userId: 'runtime' };

/** A click of a person in a chat. */
function click(email: string | null, userId = 'slack:T1/U1'): Partial<DecisionAttempt> {
  const caller = { provider: 'chat', userId, ...(email === null ? {} : { email }) };
  return { email, caller, source: 'slack' };
}

it("the names of the agent's own providers, which stored tasks contain, do not change", () => {
  expect([runtimeProvider, chatProvider]).toEqual(['runtime', 'chat']);
});

describe('the approver list of a tool', () => {
  it('is lower-cased and trimmed', () => {
    expect(normaliseApprovers([' Ann@Example.COM ', '', '  ', 'bob@example.com'])).toEqual([
      'ann@example.com',
      'bob@example.com',
    ]);
  });

  it.each([
    ["the tool's own list", ['ann@example.com'], ['bob@example.com'], ['ann@example.com']],
    ['the default for a tool without a list', [], [' BOB@example.com '], ['bob@example.com']],
    [
      'the default for a tool with a blank list',
      ['', ' '],
      ['bob@example.com'],
      ['bob@example.com'],
    ],
    ['none when both are empty', [], [], null],
    ['none when both are blank', [' '], [''], null],
    [
      "the tool's own list even when it matches no one",
      ['everyone'],
      ['bob@example.com'],
      ['everyone'],
    ],
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
    [['kate@example.com'], '\u212Aate@example.com', false],
    [['\u212Aate@example.com'], '\u212Aate@example.com', false],
    [['\u212Aate@example.com'], 'kate@example.com', false],
    [['ann@example.com'], 'ann@example.com.', false],
    [['ann@example.com'], 'ann@example.com\u200B', false],
    [['ann@example.com'], 'ann@example.com\u00A0', false],
  ])('of list %j returns for %j: %s', (list, email, expected) => {
    const approvers = list === null ? null : normaliseApprovers(list);
    expect(isApprover(approvers, { email, as: [] })).toBe(expected);
  });

  it('a malformed entry matches no one', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', '.', ' ') })), (list) => {
        const matched = list.filter((entry) =>
          isApprover(normaliseApprovers(list), { email: entry, as: [entry] }),
        );
        expect(matched).toEqual([]);
      }),
    );
  });

  it('a blank email is on no list', () => {
    const blank = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\u00a0') });
    fc.assert(
      fc.property(fc.array(fc.string()), blank, (list, email) => {
        expect(isApprover(normaliseApprovers(list), { email, as: [] })).toBe(false);
      }),
    );
  });
});

describe('the recorded approver', () => {
  const bound = aDeferral({ bindApprover: true });
  it.each([
    ['the asserted email', aDeferral(), { email: 'Bob@example.com' }, 'Bob@example.com'],
    ['nobody', aDeferral(), { email: '  ' }, null],
    [
      'the asserted email next to a token',
      aDeferral(),
      { email: 'b@x.org', caller: ann },
      'b@x.org',
    ],
    ['the verified email when bound', bound, { caller: ann }, 'ann@example.com'],
    [
      'the verified email without the blanks around it',
      bound,
      { caller: aCaller({ email: ' Ann@example.com\n' }) },
      'Ann@example.com',
    ],
    [
      'no one for a bound token without an email',
      bound,
      { email: 'b@x.org', caller: operator },
      null,
    ],
    ['no one when bound without a token', bound, { email: 'b@x.org' }, null],
    ['the email of a click', bound, click('b@x.org'), 'b@x.org'],
    ['no one for a click without an email', bound, click(null), null],
  ])('is %s', (_, deferral, attempt, expected) => {
    expect(approverEmail(deferral, anAttempt(attempt))).toBe(expected);
  });

  it.each([
    [aDeferral(), { approver: ' Ann ', email: 'ann@example.com' }, 'Ann'],
    [aDeferral(), { approver: null, email: ' ann@example.com ' }, 'ann@example.com'],
    [aDeferral(), { approver: '  ', email: '' }, 'unknown'],
    [aDeferral(), { approver: null, caller: ann }, 'unknown'],
    [bound, { approver: 'Somebody else', caller: ann }, 'ann@example.com'],
    [bound, { approver: 'Bob', ...click(null) }, 'Bob'],
    [bound, { approver: 'Ann', ...click('ann@example.com') }, 'Ann'],
    [
      aDeferral(),
      { approver: 'Eve\n{"a":1}\r\n\u0007\u001b[31m' },
      'Eve {"a":1} [U+0007][U+001B][31m',
    ],
    [aDeferral(), { approver: '\u202Enna', email: 'ann@example.com' }, '[U+202E]nna'],
    [aDeferral(), { approver: null, email: 'a\nb\u200B' }, 'a b[U+200B]'],
    [aDeferral(), { approver: 'Ann \ud83d' }, 'Ann \ufffd'],
  ])('is recorded under one name (%#)', (deferral, attempt, expected) => {
    expect(approverName(deferral, anAttempt(attempt))).toBe(expected);
  });
});

describe('an approver list', () => {
  const listed = aDeferral({ approvers: ['ann@example.com'] });
  it.each([
    ['accepts a listed email in any case', { email: ' ANN@example.com' }, false],
    ['refuses an unlisted email', { email: 'bob@example.com' }, true],
    ['refuses a missing email', { email: null }, true],
    ['refuses an empty email', { email: '' }, true],
    ['refuses a listed name without the email', { approver: 'ann@example.com' }, true],
    ['refuses a listed token without the email', { caller: ann }, true],
    ['refuses an unlisted reject', { verb: 'reject', email: 'bob@example.com' }, true],
  ] as const)('%s', (_, attempt, expected) => {
    expect(isRefused(listed, anAttempt({ approver: null, ...attempt }), null)).toBe(expected);
  });
});

describe('bind_approver', () => {
  const listed = aDeferral({ bindApprover: true, approvers: ['ann@example.com'] });
  const open = aDeferral({ bindApprover: true });
  const emails: [string, Caller | null][] = [
    ['no token', null],
    ["the daemon's own token", operator],
    ['a token without an email', { provider: 'sso', userId: 'job' }],
    ['a token whose email is empty', aCaller({ email: '' })],
    ['a token whose email is blank', aCaller({ email: '  ' })],
    ['a token whose email is none', aCaller({ email: 'ann' })],
    ['a token whose email looks like one', aCaller({ email: '\u0430nn@example.com' })],
    ['a token whose email is too long', aCaller({ email: `${'a'.repeat(243)}@example.com` })],
  ];
  it.each(emails)('refuses %s, with any asserted email', (_, caller) => {
    for (const deferral of [listed, open]) {
      for (const email of [null, '', 'ann@example.com', caller?.email ?? 'eve@example.com']) {
        for (const verb of ['approve', 'reject'] as const) {
          const attempt = anAttempt({ verb, approver: 'ann@example.com', email, caller });
          expect(isRefused(deferral, attempt, null)).toBe(true);
        }
      }
    }
  });

  const bob = aCaller({ userId: 'bob', email: 'bob@example.com' });
  it.each<[string, Partial<DecisionAttempt>, boolean]>([
    ['takes the verified email', { caller: ann }, false],
    ['takes the same asserted email', { caller: ann, email: ' Ann@Example.com' }, false],
    ['ignores a blank email', { caller: ann, email: '  ' }, false],
    ['refuses another asserted email', { caller: ann, email: 'bob@example.com' }, true],
    ['refuses an asserted value that is not a string', { caller: ann, email: 'ann' }, true],
    ['refuses an asserted look-alike', { caller: ann, email: '\u0430nn@example.com' }, true],
    ['refuses an asserted email that is listed', { caller: bob, email: 'ann@example.com' }, true],
    ['refuses a verified email that is not listed', { caller: bob }, true],
    ['accepts a click that the chat vouches for', click('ann@example.com'), false],
    ['refuses a click of an unlisted person', click('bob@example.com'), true],
    ['refuses a click without an email', click(null), true],
  ])('%s', (_, attempt, expected) => {
    expect(isRefused(listed, anAttempt(attempt), null)).toBe(expected);
  });

  it('accepts any click, also one without an email, where no list applies', () => {
    expect(isRefused(open, anAttempt(click(null)), null)).toBe(false);
    expect(isRefused(open, anAttempt(click('bob@example.com')), null)).toBe(false);
  });
});

describe('the identity of a chat', () => {
  it('cannot decide over the endpoint for anyone', () => {
    const { source: _, ...overEndpoint } = click('ann@example.com');
    for (const bindApprover of [true, false]) {
      for (const approvers of [null, ['ann@example.com']]) {
        const deferral = aDeferral({ bindApprover, approvers });
        expect(isRefused(deferral, anAttempt(overEndpoint), null)).toBe(true);
        expect(isRefused(deferral, anAttempt(click('ann@example.com')), null)).toBe(false);
      }
    }
  });
});

describe('the proof of the approver', () => {
  const bound = aDeferral({ bindApprover: true });
  it.each<[string, Deferral, Partial<DecisionAttempt>, string]>([
    ['the bound token', bound, { caller: ann, approver: 'Bob' }, 'token:ops'],
    [
      'a token with the asserted email',
      aDeferral(),
      { caller: ann, approver: null, email: 'Ann@Example.com' },
      'token:ops',
    ],
    [
      'nothing next to a token without the email',
      aDeferral(),
      { caller: ann, approver: 'Bob' },
      'asserted',
    ],
    [
      'nothing next to a token with another email',
      aDeferral(),
      { caller: ann, approver: null, email: 'bob@example.com' },
      'asserted',
    ],
    ["nothing next to the daemon's own token", aDeferral(), { caller: operator }, 'asserted'],
    ['nothing without a token', aDeferral(), { email: 'ann@example.com' }, 'asserted'],
    ['no one, where no approver is named', aDeferral(), { approver: ' ', email: '' }, 'nobody'],
    ['no one, for any caller', aDeferral(), { approver: null, caller: ann }, 'nobody'],
    ['the chat', aDeferral(), click('ann@example.com'), 'chat:slack'],
    ['the chat, also without an email', bound, click(null), 'chat:slack'],
  ])('is %s', (_, deferral, attempt, expected) => {
    expect(vouchedBy(deferral, anAttempt(attempt))).toBe(expected);
  });
});

describe('a decision without a verified approver', () => {
  it.each(['approve', 'reject'] as const)('accepts no %s, listed or not', (verb) => {
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
    ['refuses the requester for whom a chat adapter speaks', click('RITA@example.com '), true],
    ['refuses the requester by asserted email', { email: 'rita@example.com' }, true],
    ['refuses the requester by name', { approver: 'Rita@Example.com' }, true],
    [
      'refuses the requester who asserts another email',
      { caller: rita, email: 'ann@example.com' },
      true,
    ],
    ['refuses a rejection by the requester', { verb: 'reject', caller: rita }, true],
    ['accepts another person', { caller: stranger }, false],
    ['accepts a click of another person', click('ann@example.com'), false],
  ] as const)('%s', (_, attempt, expected) => {
    expect(isRefused(guarded, anAttempt(attempt), rita)).toBe(expected);
  });

  it('accepts the requester where it is off', () => {
    expect(isRefused(aDeferral(), anAttempt({ caller: rita }), rita)).toBe(false);
  });

  const sam = { provider: 'chat', userId: 'slack:T1/U2', email: 'sam@example.com' };
  it.each<[string, Partial<DecisionAttempt>, Caller | null, (PersonKey | null)[], boolean]>([
    ['refuses one of the speakers', { caller: stranger }, rita, [null, ann, sam], true],
    ['refuses a speaker by asserted email', { email: 'SAM@example.com' }, rita, [sam, ann], true],
    ['refuses a speaker of a task without a requester', { caller: stranger }, null, [sam], true],
    ['refuses the requester next to speakers', { caller: rita }, rita, [ann, null, sam], true],
    ['accepts another person next to speakers', { caller: stranger }, rita, [ann, null], false],
    [
      'accepts any person for a task without a requester',
      { caller: stranger },
      null,
      [null],
      false,
    ],
  ])('%s', (_, attempt, requester, speakers, expected) => {
    expect(isRefused(guarded, anAttempt(attempt), requester, speakers)).toBe(expected);
    expect(isRefused(aDeferral(), anAttempt(attempt), requester, speakers)).toBe(false);
  });

  it('refuses a decision with the token that requested the call, also where callers have no name', () => {
    const attempt = anAttempt({ caller: operator, email: 'ann@example.com' });
    expect(isRefused(guarded, attempt, operator)).toBe(true);
  });

  it('accepts a click on a call requested with a token of the daemon', () => {
    for (const requester of [operator, { provider: 'chat', userId: 'chat' }]) {
      expect(isRefused(guarded, anAttempt(click('ann@example.com')), requester)).toBe(false);
    }
  });

  it('recognizes a requester in a chat by the chat id, with or without an email', () => {
    const asked = { provider: 'chat', userId: 'slack:T1/U1' };
    const own = anAttempt(click('a@b.cd'));
    const other = anAttempt(click(null, 'slack:T1/U2'));
    expect([isRefused(guarded, own, asked), isRefused(guarded, other, asked)]).toEqual([
      true,
      false,
    ]);
  });

  it('takes two equal names that are no emails for one person', () => {
    const requester = aCaller({ provider: 'sso', email: 'M\u00fcller@example.com' });
    const attempt = anAttempt({
      caller: aCaller({ userId: 'm', email: 'm\u00fcller@example.com' }),
    });
    expect(isRefused(guarded, attempt, requester)).toBe(true);
  });

  it('takes two identities without an email for two persons', () => {
    const requester = { provider: 'ops', userId: 'one' };
    const other = { provider: 'ops', userId: 'two' };
    expect(isRefused(guarded, anAttempt({ caller: other }), requester)).toBe(false);
  });
});

describe('a held call with all hidden arguments', () => {
  const bound = aDeferral({ bindApprover: true, approvers: ['ann@example.com'] });
  const bo = aCaller({ userId: 'bo', email: 'bo@example.com' });

  it.each<[string, Partial<Deferral>, Caller | null, boolean]>([
    ['its approver', bound, ann, true],
    ['the operator', bound, operator, true],
    ['another caller', bound, bo, false],
    ['somebody without a token', bound, null, false],
    ['somebody without a token, who may name an approver', { bindApprover: false }, null, true],
    ['its requester under four eyes', { fourEyes: true }, bo, false],
    ['a conversation', {}, { provider: 'chat', userId: 'chat' }, false],
  ])('is readable by %s', (_, deferral, caller, isRead) => {
    expect(maySeeWhole(aDeferral(deferral), caller, bo)).toBe(isRead);
  });
});

describe('a call of a gate with sign-in', () => {
  const separation = { programs: ['hook', 'ci'], deciders: ['ops'] };
  const asker = { provider: 'hook', userId: 'dev', email: 'dev@example.com' };
  const caller = (provider: string, email?: string): Caller => ({
    ...{ provider, userId: provider, ...(email === undefined ? {} : { email }) },
  });

  it.each<[string, Partial<DecisionAttempt>, boolean]>([
    ['the caller that asked', { caller: asker }, true],
    ['another program', { caller: caller('ci', 'ci@example.com') }, true],
    [
      'another program in the name of a person',
      { caller: caller('ci'), email: 'ann@example.com' },
      true,
    ],
    ['a token without an email', { caller: caller('oidc') }, true],
    ['a person', { caller: caller('oidc', 'ann@example.com') }, false],
    ['the person who asked, by another token', { caller: caller('oidc', 'Dev@Example.com') }, true],
    [
      'a person in the name of the asker',
      { caller: caller('oidc', 'ann@example.com'), email: 'dev@example.com' },
      true,
    ],
    ['a token that may decide', { caller: caller('ops') }, false],
    ['the own token of the daemon', { caller: operator }, false],
    ['a person in a chat', click('ann@example.com'), false],
    ['the asker in a chat', click('dev@example.com'), true],
    [
      'a delegate of the asker',
      {
        caller: caller('oidc', 'ann@example.com'),
        standing: { as: [], for: [{ email: 'dev@example.com', as: [] }] },
      },
      false,
    ],
    ['nobody, without authentication', { caller: null }, false],
  ])('refuses %s: %j %s', (_, attempt, expected) => {
    const given = anAttempt({ approver: null, email: null, ...attempt });
    expect(isRefused(aDeferral({ separation }), given, asker)).toBe(expected);
  });

  it('refuses a delegate whose right comes from the requester', () => {
    const standing = { as: [], for: [{ email: 'dev@example.com', as: [] }] };
    const attempt = anAttempt({
      ...{ approver: null, email: 'ann@example.com' },
      caller: ann,
      standing,
    });
    const deferral = aDeferral({ separation, approvers: ['dev@example.com'] });
    expect(isRefused(deferral, attempt, asker)).toBe(true);
  });

  it("refuses the daemon's own token on its own request only under four eyes", () => {
    const attempt = anAttempt({ approver: null, email: null, caller: operator });
    expect(isRefused(aDeferral({ separation }), attempt, operator)).toBe(false);
    expect(isRefused(aDeferral({ separation, fourEyes: true }), attempt, operator)).toBe(true);
  });

  it('is shown whole to its approvers', () => {
    const deferral = aDeferral({ separation });
    const whole = [asker, caller('ci', 'ci@example.com'), caller('ops'), ann, operator].map((one) =>
      maySeeWhole(deferral, one, asker),
    );
    expect(whole).toEqual([false, false, true, true, true]);
  });
});
