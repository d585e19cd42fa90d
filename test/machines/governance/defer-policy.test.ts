import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderContext } from '../../../src/machines/governance/defer-policy.ts';

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

  it('leaves placeholders and replacement patterns of the arguments as they are', () => {
    const args = { note: '{tool} {args} $& $1 $$' };
    expect(renderContext('{tool}: {args}', 'issue_refund', args)).toBe(
      'issue_refund: {"note":"{tool} {args} $& $1 $$"}',
    );
  });

  it('shows every character of what is asked for', () => {
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
