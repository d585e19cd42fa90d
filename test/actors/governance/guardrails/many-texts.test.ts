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
    ['at a word boundary', ['\\bstop\\b'], ['stop', 'it'], 0],
    ['anchored at both ends', ['^stop$'], ['stop'], 0],
    ['anchored at its beginning, among rules without anchors', ['curl', '^stop'], ['stop it'], 1],
    ['anchored at its end, before rules without anchors', ['stop$', 'curl'], ['please stop'], 0],
    ['in its normal form', ['ignore all'], ['ｉｇｎｏｒｅ\u00a0ａｌｌ'], 0],
  ])('is denied for one of them: %s', (_, patterns, texts, index) => {
    expect(checked(patterns, many(...texts, 'harmless'))).toEqual(
      deniedBy(index, patterns[index] ?? ''),
    );
  });

  it.each<[string, string[], string[]]>([
    ['no rule matches any of them', ['curl', 'ignore all'], ['ignore', 'all']],
    ['a rule matches only across two of them', ['ignore\\sall'], ['ignore', 'all']],
    ['a rule matches none of them whole', ['^stop$'], ['do not stop', 'stop it']],
  ])('is allowed when %s', (_, patterns, texts) => {
    expect(checked(patterns, many(...texts))).toEqual(passed);
  });

  it('is denied by the first rule of the list, for any matching text', () => {
    expect(checked(['two', 'one'], many('one', 'two'))).toEqual(deniedBy(0, 'two'));
  });
});

describe('a string in another spelling', () => {
  it.each<[string, string]>([
    ['in full width', 'ｒｍ －ｒｆ'],
    ['with invisible marks', 'r\u200bm \u202e-rf'],
    ['with wide blanks', 'rm\u3000\u2003-rf'],
    ['with JSON escapes', '\\u0072m\\t-rf'],
  ])('is denied like the plain one: %s', (_, text) => {
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
