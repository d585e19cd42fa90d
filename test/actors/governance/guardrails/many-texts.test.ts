import { describe, expect, it } from 'vitest';
import { guardrailsOf } from './some-rules.ts';

const passed = { denial: null, findings: [] };

/** So many texts that they are matched as one before each is by itself. */
const many = (...texts: string[]) => [...Array<string>(100).fill('harmless'), ...texts];

function deniedBy(index: number, pattern: string) {
  const finding = { gate: 'deny_prompts', decision: 'deny', rule: `deny_prompts[${index}]` };
  return { denial: `denied by guardrail: ${pattern}`, findings: [finding] };
}

function checked(patterns: string[], texts: string[]) {
  const deny_prompts = patterns.map((pattern) => ({ pattern }));
  return guardrailsOf({ deny_prompts }).checkPrompt(() => texts);
}

describe('a prompt of many texts', () => {
  it.each<[string, string[], string[], number]>([
    ['at the end of them', ['curl', 'ignore all'], ['ignore all'], 1],
    ['at a bound of a word', ['\\bstop\\b'], ['stop', 'it'], 0],
    ['from its begin to its end', ['^stop$'], ['stop'], 0],
    ['from its begin, among rules without bounds', ['curl', '^stop'], ['stop it'], 1],
    ['to its end, before rules without bounds', ['stop$', 'curl'], ['please stop'], 0],
    ['in its normal form', ['ignore all'], ['ｉｇｎｏｒｅ\u00a0ａｌｌ'], 0],
  ])('is denied for one of them: %s', (_, patterns, texts, index) => {
    expect(checked(patterns, many(...texts, 'harmless'))).toEqual(
      deniedBy(index, patterns[index] ?? ''),
    );
  });

  it.each<[string, string[], string[]]>([
    ['no rule matches any of them', ['curl', 'ignore all'], ['ignore', 'all']],
    ['a rule matches over two of them alone', ['ignore\\sall'], ['ignore', 'all']],
    ['a rule matches none of them whole', ['^stop$'], ['do not stop', 'stop it']],
  ])('passes when %s', (_, patterns, texts) => {
    expect(checked(patterns, many(...texts))).toEqual(passed);
  });

  it('is denied by the first rule of the list, whichever text it matches', () => {
    expect(checked(['two', 'one'], many('one', 'two'))).toEqual(deniedBy(0, 'two'));
  });
});

describe('what is written in another way', () => {
  it.each<[string, string]>([
    ['in full width', 'ｒｍ －ｒｆ'],
    ['with marks that nobody sees', 'r\u200bm \u202e-rf'],
    ['with wide blanks', 'rm\u3000\u2003-rf'],
    ['with escapes of JSON', '\\u0072m\\t-rf'],
  ])('is denied as if it were plain: %s', (_, text) => {
    const guardrails = guardrailsOf({
      deny_commands: [{ pattern: 'rm -rf' }],
      deny_prompts: [{ pattern: 'rm -rf' }],
      deny_output: [{ pattern: 'rm -rf', action: 'block' }],
    });
    const denial = 'denied by guardrail: rm -rf';
    const finding = (gate: string, decision: string) => ({ gate, decision, rule: `${gate}[0]` });
    expect(guardrails.checkCall('shell', { run: text })).toEqual({
      denial,
      findings: [finding('deny_commands', 'deny')],
    });
    expect(guardrails.checkPrompt(() => [text])).toEqual({
      denial,
      findings: [finding('deny_prompts', 'deny')],
    });
    expect(guardrails.checkOutput(text)).toEqual({
      kind: 'blocked',
      denial,
      findings: [finding('deny_output', 'block')],
    });
  });
});
