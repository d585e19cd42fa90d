import { describe, expect, it } from 'vitest';
import {
  compileGuardrails,
  mergeGuardrails,
} from '../../../../src/actors/governance/guardrails/guardrails.ts';
import { guardrailsOf, someRules } from './some-rules.ts';

const base = someRules({
  deny_commands: [{ pattern: 'rm -rf' }],
  denied_tools: ['pay'],
  redact: ['email'],
});

describe('the guardrails of a skill', () => {
  it('are added under their own name and remove nothing', () => {
    const { rules, problems } = mergeGuardrails(base, {
      id: 'refunds',
      value: {
        deny_commands: [{ pattern: 'rm', message: 'not here' }],
        deny_output: [{ pattern: 'order \\d+', action: 'redact' }],
        denied_tools: ['wire_money'],
        redact: ['pii'],
      },
    });
    expect(problems).toEqual([]);
    const guardrails = guardrailsOf(rules);
    const ruleOf = (tool: string, args = {}) => guardrails.checkCall(tool, args).findings[0]?.rule;
    expect(ruleOf('x', { a: 'rm -rf' })).toBe('deny_commands[0]');
    expect(ruleOf('x', { a: 'rm' })).toBe('skill refunds deny_commands[0]');
    expect(ruleOf('pay')).toBe('denied_tools[0]');
    expect(ruleOf('wire-money')).toBe('skill refunds denied_tools[0]');
    expect(guardrails.checkOutput('order 5 of ann@a.io, 192.0.2.7')).toEqual({
      kind: 'redacted',
      text: '[redacted] of [redacted:email], [redacted:ip_address]',
      findings: [
        { gate: 'deny_output', decision: 'redact', rule: 'skill refunds deny_output[0]' },
        { gate: 'redact', decision: 'redact', rule: 'redact.email' },
        { gate: 'redact', decision: 'redact', rule: 'skill refunds redact.ip_address' },
      ],
    });
  });

  it.each([null, {}, { deny_commands: null }])('may be %j', (value) => {
    const { rules, problems } = mergeGuardrails(base, { id: 'a', value });
    expect(problems).toEqual([]);
    expect(guardrailsOf(rules).checkCall('pay', {}).denial).toBe(
      'denied by guardrail: pay is a denied tool',
    );
  });

  it.each<[string, unknown, unknown[]]>([
    [
      'an unknown key',
      { deny_comands: [], enabled: false },
      [
        { path: ['deny_comands'], message: 'unknown key; did you mean deny_commands?' },
        {
          path: ['enabled'],
          message:
            'unknown key; use one of deny_commands, deny_prompts, deny_output, denied_tools, redact, or remove it',
        },
      ],
    ],
    [
      'an unknown key of a rule',
      { deny_output: [{ pattern: 'x', action: 'block', actoin: 'redact' }] },
      [
        {
          path: ['deny_output', 0, 'actoin'],
          message: 'unknown key; did you mean action?',
        },
      ],
    ],
    [
      'a wrong action',
      { deny_output: [{ pattern: 'x', action: 'warn' }] },
      [{ path: ['deny_output', 0, 'action'], message: 'this must be one of block, redact' }],
    ],
    [
      'a value that is not a list',
      { denied_tools: 'pay' },
      [{ path: ['denied_tools'], message: 'this must be a list, such as [a, b]' }],
    ],
    [
      'a rule that is a string',
      { deny_prompts: ['x'] },
      [{ path: ['deny_prompts', 0], message: 'this must be {pattern, message}' }],
    ],
    [
      'a block that is a list',
      [],
      [
        {
          path: [],
          message:
            'this must be a map of deny_commands, deny_prompts, deny_output, denied_tools, redact',
        },
      ],
    ],
    [
      'a blank name',
      { denied_tools: [' '] },
      [{ path: ['denied_tools', 0], message: 'this must not be empty; write a name' }],
    ],
    [
      'a malformed pattern and an unknown name',
      { deny_commands: [{ pattern: '(a' }], redact: ['ibann'] },
      [
        {
          path: ['deny_commands', 0, 'pattern'],
          message: 'the pattern has a ( without its ); close it or write \\(',
        },
        {
          path: ['redact', 0],
          message: 'there is no redaction rule of this name; did you mean iban?',
        },
      ],
    ],
  ])('with %s are a problem, and then nothing compiles', (_name, value, problems) => {
    const merged = mergeGuardrails(base, { id: 'a', value: value as never });
    expect(merged.problems).toEqual(problems);
    expect(compileGuardrails(merged.rules)).toMatchObject({ ok: false });
  });
});
