import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Deferral } from '../../../src/machines/domain/task.ts';
import {
  type DeferRule,
  deferRule,
  nextMoment,
  openDeferral,
  renderContext,
} from '../../../src/machines/governance/defer-policy.ts';
import { aCall, aDeferral, times } from '../../helpers/task-fixtures.ts';

describe('renderContext', () => {
  it.each([
    ['', 'tool=issue_refund args={"order":7}'],
    ['  \n', 'tool=issue_refund args={"order":7}'],
    ['{tool} wants {args}', 'issue_refund wants {"order":7}'],
    ['{tool} {tool}', 'issue_refund issue_refund'],
    ['nothing to fill', 'nothing to fill'],
    ['{Tool} {arguments} {}', '{Tool} {arguments} {}'],
  ])('fills the template "%s"', (template, expected) => {
    expect(renderContext(template, 'issue_refund', { order: 7 })).toBe(expected);
  });

  it.each([
    ['Pay {args.amount} to {args.to.name}', 'Pay 5 to Ann'],
    ['{args.items.1.price} {args.items.x} {args.items.length}', '2.5 (none) (none)'],
    ['{args.missing} {args.constructor} {args.to.name.length}', '(none) (none) (none)'],
    ['{args.to} {args.gone}', '{"name":"Ann"} null'],
    ['{args.note}', 'one\\ntwo {tool}'],
  ])('fills in the arguments of "%s"', (template, expected) => {
    const args = {
      amount: 5,
      to: { name: 'Ann' },
      items: [{ price: 1 }, { price: 2.5 }],
      gone: null,
      note: 'one\ntwo {tool}',
    };
    expect(renderContext(template, 'pay', args)).toBe(expected);
  });

  it('does not expand placeholders and replacement patterns inside arguments', () => {
    const args = { note: '{tool} {args} $& $1 $$' };
    expect(renderContext('{tool}: {args}', 'issue_refund', args)).toBe(
      'issue_refund: {"note":"{tool} {args} $& $1 $$"}',
    );
  });

  it('shows every character of the arguments', () => {
    const args = { to: 'DE89\u202E37', note: 'a\u200Bb' };
    expect(renderContext('{tool}\u0007: {args}', 'issue_refund', args)).toBe(
      'issue_refund[U+0007]: {"to":"DE89[U+202E]37","note":"a[U+200B]b"}',
    );
  });

  it('is always well-formed Unicode', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, text, (template, tool, note) => {
        expect(renderContext(`${template}\ud800{args}`, tool, { note }).isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('a rule', () => {
  const asked = { to: ['channel:slack:#refunds'], timeout: 300_000 };

  it('with only an approver opens the simplest deferral', () => {
    expect(openDeferral(aCall(), deferRule(asked), times.thought)).toStrictEqual(aDeferral());
  });

  it('shows the arguments that people may see, and binds the arguments that run', () => {
    const call = aCall({ args: { token: 'ghp_1' } });
    const shown = { token: '[redacted:github_token]' };
    expect(openDeferral(call, deferRule(asked), times.thought, shown)).toMatchObject({
      args: { token: 'ghp_1' },
      argsSha256: call.argsSha256,
      shown,
      context: 'tool=issue_refund args={"token":"[redacted:github_token]"}',
    });
  });

  it('keeps its own message and terms', () => {
    const strictest: DeferRule = {
      ...asked,
      contextTemplate: '{tool}!',
      approvers: ['ann@example.com'],
      quorum: 2,
      fourEyes: true,
      bindApprover: true,
      distinctCallers: true,
      onReject: 'tool_result',
      remind: true,
      escalateTo: 'channel:console:managers',
    };
    expect(deferRule(strictest)).toStrictEqual(strictest);
  });

  it.each([
    [1_000, 500, 750],
    [1_001, 501, 751],
    [1, 1, 1],
  ])('of %i ms reminds after %i and escalates after %i', (timeout, reminded, escalated) => {
    const rule = deferRule({ ...asked, timeout, remind: true, escalateTo: 'channel:slack:#leads' });
    expect(openDeferral(aCall(), rule, 5_000)).toMatchObject({
      remindAt: 5_000 + reminded,
      escalateAt: 5_000 + escalated,
      expiresAt: 5_000 + timeout,
    });
  });
});

describe('the next moment of a deferral', () => {
  const remindAt = times.reminded;
  const escalateAt = times.escalated;
  it.each<[string, Partial<Deferral>, number, number, number]>([
    ['without nudges', {}, times.expired, times.expired, times.expired],
    ['with a reminder', { remindAt }, remindAt, times.expired, times.expired],
    ['with an escalation', { escalateAt }, escalateAt, escalateAt, times.expired],
    ['with both', { remindAt, escalateAt }, remindAt, escalateAt, times.expired],
  ])('%s', (_, overrides, whenAsked, whenReminded, whenEscalated) => {
    const deferral = aDeferral(overrides);
    expect(nextMoment(deferral, 'asked')).toBe(whenAsked);
    expect(nextMoment(deferral, 'reminded')).toBe(whenReminded);
    expect(nextMoment(deferral, 'escalated')).toBe(whenEscalated);
  });
});
