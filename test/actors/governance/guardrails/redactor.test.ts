import { describe, expect, it, vi } from 'vitest';
import { compileRules } from '../../../../src/actors/governance/guardrails/compile-rules.ts';
import { normalForm } from '../../../../src/actors/governance/guardrails/normal-form.ts';
import { Redactor } from '../../../../src/actors/governance/guardrails/redactor.ts';
import { someRules } from './some-rules.ts';

/** Redacts with written rules and with built-in ones. */
function redacted(text: string, patterns: string[], redact: string[] = []) {
  const written = patterns.map((pattern) => ({ pattern, action: 'redact' as const }));
  const redactor = new Redactor(compileRules(someRules({ deny_output: written, redact })));
  return redactor.redact(text, normalForm(text));
}

/** Redacts with a rule that matches without taking a character; no such rule can be configured. */
function hidden(text: string, source: string): string {
  const pattern = { source, size: 1, isAnchored: false };
  const redactor = new Redactor({
    redactions: [{ rule: 'deny_output[0]', pattern, shown: source }],
    redact: [],
  });
  return redactor.redact(text, normalForm(text)).text;
}

const byWritten = (index: number) => ({
  gate: 'deny_output',
  decision: 'redact',
  rule: `deny_output[${index}]`,
});
const byName = (name: string) => ({ gate: 'redact', decision: 'redact', rule: `redact.${name}` });

describe('a redacted text', () => {
  it('is unchanged without rules', () => {
    expect(redacted('a  b', [])).toEqual({ text: 'a  b', findings: [] });
  });

  it('loses a match that exists only in its normal form', () => {
    expect(redacted('on project\u00a0\u00a0falcon now', ['project falcon'])).toEqual({
      text: 'on [redacted] now',
      findings: [byWritten(0)],
    });
  });

  it('loses a match that exists only in its original form', () => {
    expect(redacted('a  b c', ['a  b'])).toEqual({
      text: '[redacted] c',
      findings: [byWritten(0)],
    });
  });

  it('is reported in the order of the rules, not of the matches', () => {
    expect(redacted('a  b plain', ['a b', 'plain'], ['email'])).toEqual({
      text: '[redacted] [redacted]',
      findings: [byWritten(0), byWritten(1)],
    });
    expect(redacted('to ann@example.com: ｐlain', ['plain'], ['email'])).toEqual({
      text: 'to [redacted:email]: [redacted]',
      findings: [byWritten(0), byName('email')],
    });
  });

  it('names no rule that matched only a look-alike', () => {
    expect(redacted('see logo@2x.png', [], ['email'])).toEqual({
      text: 'see logo@2x.png',
      findings: [],
    });
    expect(redacted('4012\n8888\n8888\n1881\n', [], ['credit_card'])).toEqual({
      text: '4012\n8888\n8888\n1881\n',
      findings: [],
    });
  });

  it('loses a token after wide blanks', () => {
    const token = 'Bearer\u00a0\u00a0abcdef1234567890';
    expect(redacted(`it is ${token}!`, [], ['bearer_token'])).toEqual({
      text: 'it is [redacted:bearer_token]!',
      findings: [byName('bearer_token')],
    });
  });

  it('loses two touching matches with one mark each', () => {
    expect(redacted('xx  end', ['x']).text).toBe('[redacted][redacted]  end');
  });

  it('keeps the letter of an escape before a match', () => {
    expect(redacted('{"m":"\\nann@example.com\\n"}', [], ['email'])).toEqual({
      text: '{"m":"\\n[redacted:email]\\n"}',
      findings: [byName('email')],
    });
  });

  it('loses a match that starts with the letter of an escape and is invalid without it', () => {
    const token = `npm_${'a1B2c3'.repeat(6)}`;
    expect(redacted(`b\\${token}`, [], ['npm_token'])).toEqual({
      text: 'b\\[redacted:npm_token]',
      findings: [byName('npm_token')],
    });
  });

  it('is unchanged when it is redacted again', () => {
    const written = [{ pattern: 'x+', action: 'redact' as const }];
    const redactor = new Redactor(compileRules(someRules({ deny_output: written })));
    const texts = ['a xx', 'x b', 'xxx'].map((text) => redactor.redact(text, null).text);
    expect(texts).toEqual(['a [redacted]', '[redacted] b', '[redacted]']);
  });
});

describe('a string whose matches cannot be located', () => {
  it('is hidden whole', () => {
    expect(hidden('some words', '\\b')).toBe('[redacted]');
  });

  it('is hidden whole when the rule matches only its normal form', () => {
    expect(hidden('- ａ -', '\\b')).toBe('[redacted]');
  });

  it('is hidden from where the time of a rule was over', () => {
    vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(1_000_000);
    expect(redacted(`${'x,'.repeat(20)}and more`, ['x']).text).toBe(
      `${'[redacted],'.repeat(15)}[redacted][redacted]`,
    );
  });

  it('is hidden from there even where a rule would keep its matches', () => {
    vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(1_000_000);
    expect(redacted(`${'a@2x.png,'.repeat(20)}and more`, [], ['email'])).toEqual({
      text: `${'a@2x.png,'.repeat(15)}a@2x.png[redacted:email]`,
      findings: [byName('email')],
    });
  });
});
