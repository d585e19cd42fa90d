import { describe, expect, it } from 'vitest';
import type { GuardrailRules } from '../../../../src/actors/governance/guardrails/guardrails.ts';
import type { ModifyRules } from '../../../../src/actors/governance/modify/modify.ts';
import {
  checkLargeOutput,
  type LargeOutput,
} from '../../../../src/actors/governance/policy/check-large-output.ts';

const secret = 'key-7f3a91-canary';
const guardrails: GuardrailRules = {
  ...{ deny_commands: [], deny_prompts: [], denied_tools: [], redact: ['email'] },
  deny_output: [{ pattern: 'pence', action: 'block' }],
};
const redacting: GuardrailRules = { ...guardrails, deny_output: [] };
const modify: ModifyRules = {
  tools: { pay: { arguments: [], output: [{ replace: { pattern: 'ann', with: 'bob' } }] } },
};
const malformed = { ...guardrails, deny_output: [{ pattern: '(', action: 'block' as const }] };
const malformedModify: ModifyRules = {
  tools: { pay: { arguments: [], output: [{ replace: { pattern: '(', with: '' } }] } },
};

function checked(rules: LargeOutput['rules'], text = 'to ann@example.com, ann') {
  return checkLargeOutput({ tool: 'pay', text, secrets: [secret], rules });
}

const redacted = { gate: 'redact', decision: 'redact', rule: 'redact.email' };

describe('the check of output in a worker', () => {
  it.each<[string, LargeOutput['rules'], object]>([
    [
      'no layer',
      { guardrails: null, modify: null },
      { text: 'to ann@example.com, ann', findings: [], rewrites: [] },
    ],
    [
      'guardrails alone',
      { guardrails: redacting, modify: null },
      { text: 'to [redacted:email], ann', findings: [redacted], rewrites: [] },
    ],
    [
      'MODIFY alone',
      { guardrails: null, modify },
      { text: 'to bob@example.com, bob', findings: [], rewrites: [1] },
    ],
    [
      'both',
      { guardrails: redacting, modify },
      { text: 'to [redacted:email], bob', findings: [redacted], rewrites: [1] },
    ],
  ])('applies %s, one set of rules after another', (_, rules, expected) => {
    expect(checked(rules)).toEqual({ kind: 'passed', ...expected });
    expect(checked({ guardrails, modify }, '5 pence')).toEqual({
      kind: 'withheld',
      reason: 'denied by guardrail: pence',
      findings: [{ gate: 'deny_output', decision: 'block', rule: 'deny_output[0]' }],
      rewrites: [],
    });
    expect(checked(rules)).toEqual({ kind: 'passed', ...expected });
  });

  it('removes the credentials of the call from the text', () => {
    expect(checked({ guardrails: null, modify: null }, `a ${secret} b`)).toMatchObject({
      text: 'a [redacted:credential] b',
    });
  });

  it('compiles a set of rules once', () => {
    let reads = 0;
    const watched: GuardrailRules = {
      ...redacting,
      get deny_output() {
        reads += 1;
        return [{ pattern: 'never', action: 'block' as const }];
      },
    };
    const rules = { guardrails: watched, modify: null };
    const [first, second] = [1, 2].map(() => {
      reads = 0;
      expect(checked(rules)).toMatchObject({ text: 'to [redacted:email], ann' });
      return reads;
    });
    // The second time they are only compared with those before.
    expect(second).toBe(1);
    expect(first).toBeGreaterThan(1);
  });

  it.each<[string, LargeOutput['rules']]>([
    ['guardrails', { guardrails: malformed, modify: null }],
    ['MODIFY', { guardrails: null, modify: malformedModify }],
    ['guardrails while MODIFY is valid', { guardrails: malformed, modify }],
    ['MODIFY while the guardrails are valid', { guardrails, modify: malformedModify }],
  ])('fails where rules do not compile: %s', (_, rules) => {
    expect(() => checked(rules)).toThrow('the rules for output do not compile in a worker');
  });
});
