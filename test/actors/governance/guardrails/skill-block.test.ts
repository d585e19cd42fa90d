import { describe, expect, it } from 'vitest';
import { readSkillBlock } from '../../../../src/actors/governance/guardrails/merge-guardrails.ts';
import type { JsonValue } from '../../../../src/machines/json.ts';
import { someRules } from './some-rules.ts';

describe('the guardrails block of a skill', () => {
  it('is read as written, and a missing list is empty', () => {
    const written = {
      deny_commands: [{ pattern: 'rm' }, { pattern: 'curl', message: 'no network' }],
      deny_output: [
        { pattern: 'a', action: 'block' as const },
        { pattern: 'b', action: 'redact' as const },
      ],
      redact: ['email'],
    };
    expect(readSkillBlock(written)).toEqual({ block: someRules(written) });
  });

  it.each<[JsonValue]>([
    [null],
    [{}],
    [{ deny_commands: null, deny_prompts: null, deny_output: null, denied_tools: null }],
    [{ redact: [], deny_output: [] }],
  ])('is empty: %j', (value) => {
    expect(readSkillBlock(value)).toEqual({ block: someRules() });
  });

  const useLists =
    'use one of deny_commands, deny_prompts, deny_output, denied_tools, redact, or remove it';
  const noText = 'this must be text; put it in quotes';

  it.each<[string, JsonValue, [(string | number)[], string][]]>([
    [
      'unknown keys',
      { deny_comand: [], on: true },
      [
        [['deny_comand'], 'unknown key; did you mean deny_commands?'],
        [['on'], `unknown key; ${useLists}`],
      ],
    ],
    [
      'unknown keys of a rule',
      {
        deny_commands: [{ pattern: 'a', action: 'block' }],
        deny_prompts: [{ pattern: 'a' }, { pattern: 'b', mesage: 'c' }],
        deny_output: [{ pattern: 'a', action: 'block', message: 'b' }],
      },
      [
        [['deny_commands', 0, 'action'], 'unknown key; use one of pattern, message, or remove it'],
        [['deny_prompts', 1, 'mesage'], 'unknown key; did you mean message?'],
        [['deny_output', 0, 'message'], 'unknown key; use one of pattern, action, or remove it'],
      ],
    ],
    [
      'a value that is not a string',
      {
        deny_commands: [{}, { pattern: 'a', message: false }],
        deny_output: [{ pattern: 1, action: 'redact' }],
        denied_tools: ['pay', 5],
      },
      [
        [['deny_commands', 0, 'pattern'], noText],
        [['deny_commands', 1, 'message'], noText],
        [['deny_output', 0, 'pattern'], noText],
        [['denied_tools', 1], noText],
      ],
    ],
    [
      'blank names',
      { denied_tools: [''], redact: ['email', ' \t'] },
      [
        [['denied_tools', 0], 'this must not be empty; write a name'],
        [['redact', 1], 'this must not be empty; write a name'],
      ],
    ],
    [
      'values that are not rules',
      { deny_commands: ['rm'], deny_output: [null] },
      [
        [['deny_commands', 0], 'this must be {pattern, message}'],
        [['deny_output', 0], 'this must be {pattern, action}'],
      ],
    ],
    [
      'a missing action',
      { deny_output: [{ pattern: 'a' }] },
      [[['deny_output', 0, 'action'], 'this must be one of block, redact']],
    ],
    [
      'values that are not lists',
      { deny_prompts: 'a', redact: {} },
      [
        [['deny_prompts'], 'this must be a list, such as [a, b]'],
        [['redact'], 'this must be a list, such as [a, b]'],
      ],
    ],
    [
      'no map',
      'rm',
      [
        [
          [],
          'this must be a map of deny_commands, deny_prompts, deny_output, denied_tools, redact',
        ],
      ],
    ],
  ])('is refused with %s, each reported in its place', (_, value, problems) => {
    expect(readSkillBlock(value)).toEqual(problems.map(([path, message]) => ({ path, message })));
  });
});
