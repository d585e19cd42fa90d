import { describe, expect, it } from 'vitest';
import { compileGuardrails } from '../../../../src/actors/governance/guardrails/guardrails.ts';
import { compileModify } from '../../../../src/actors/governance/modify/modify.ts';
import { checkOutput } from '../../../../src/actors/governance/policy/check-output.ts';

const secret = 'key-7f3a91-canary';

function layers(output: object[], replacements: object[] = []) {
  const compiled = compileGuardrails({
    deny_commands: [],
    deny_prompts: [],
    deny_output: output as never,
    denied_tools: [],
    redact: ['email'],
  });
  const rules = { pay: { arguments: [], output: replacements as never } };
  const modify = compileModify({ tools: rules });
  if (!compiled.ok || !modify.ok) throw new Error('the rules do not compile');
  return { guardrails: compiled.guardrails, modify: modify.modify };
}

describe('output', () => {
  it('is unchanged when no layer is on', () => {
    expect(checkOutput('pay', 'text', [], { guardrails: null, modify: null })).toEqual({
      kind: 'passed',
      text: 'text',
      findings: [],
      rewrites: [],
    });
  });

  it('loses the credentials of its call even when no layer is on', () => {
    const off = { guardrails: null, modify: null };
    expect(checkOutput('pay', `with ${secret}!`, [secret], off)).toMatchObject({
      text: 'with [redacted:credential]!',
    });
  });

  it('is blocked for its original content, including a credential', () => {
    const rules = layers([{ pattern: 'key-[0-9a-f]+', action: 'block' }]);
    expect(checkOutput('pay', secret, [secret], rules)).toEqual({
      kind: 'withheld',
      reason: 'denied by guardrail: key-[0-9a-f]+',
      findings: [{ gate: 'deny_output', decision: 'block', rule: 'deny_output[0]' }],
      rewrites: [],
    });
  });

  it('keeps no half of a credential that a rule would redact in part', () => {
    const rules = layers([{ pattern: 'key-7f', action: 'redact' }]);
    const checked = checkOutput('pay', `a ${secret} b key-7f c`, [secret], rules);
    expect(checked).toMatchObject({ text: 'a [redacted:credential] b [redacted] c' });
  });

  it('is checked a second time only when it contained a credential', () => {
    const { guardrails, modify } = layers([]);
    const seen: string[] = [];
    const watched: typeof guardrails = {
      ...guardrails,
      checkOutput: (text) => {
        seen.push(text);
        return guardrails.checkOutput(text);
      },
    };
    checkOutput('pay', 'plain', [secret], { guardrails: watched, modify });
    checkOutput('pay', `a ${secret}`, [secret], { guardrails: watched, modify });
    expect(seen).toEqual(['plain', `a ${secret}`, 'a [redacted:credential]']);
  });

  it('is redacted first, then rewritten by MODIFY', () => {
    const rules = layers(
      [{ pattern: 'id-\\d+', action: 'redact' }],
      [
        { replace: { pattern: 'never', with: 'x' } },
        { replace: { pattern: 'redacted', with: 'hidden' } },
      ],
    );
    expect(checkOutput('pay', 'id-12 of ann@example.com', [], rules)).toEqual({
      kind: 'passed',
      text: '[hidden] of [hidden:email]',
      findings: [
        { gate: 'deny_output', decision: 'redact', rule: 'deny_output[0]' },
        { gate: 'redact', decision: 'redact', rule: 'redact.email' },
      ],
      rewrites: [2],
    });
  });

  it('of another tool is not rewritten', () => {
    const rules = layers([], [{ replace: { pattern: 'a', with: 'b' } }]);
    expect(checkOutput('ping', 'a', [], rules)).toMatchObject({ text: 'a', rewrites: [] });
  });
});
