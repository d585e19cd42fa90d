import { describe, expect, it } from 'vitest';
import { readSkillBlock } from '../../../../src/actors/governance/guardrails/merge-guardrails.ts';
import type { JsonValue } from '../../../../src/machines/json.ts';
import { someRules } from './some-rules.ts';

describe('the guardrails that a skill wrote', () => {
  it('are read as they are written, and a list that is missing is empty', () => {
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
  ])('are none: %j', (value) => {
    expect(readSkillBlock(value)).toEqual({ block: someRules() });
  });

  const useLists =
    'use one of deny_commands, deny_prompts, deny_output, denied_tools, redact, or remove it';
  const noText = 'this must be text; put it in quotes';

  it.each<[string, JsonValue, [(string | number)[], string][]]>([
    [
      'keys that nobody knows',
      { deny_comand: [], on: true },
      [
        [['deny_comand'], 'unknown key; did you mean deny_commands?'],
        [['on'], `unknown key; ${useLists}`],
      ],
    ],
    [
      'keys of a rule that nobody knows',
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
      'what is no text',
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
      'names that are blank',
      { denied_tools: [''], redact: ['email', ' \t'] },
      [
        [['denied_tools', 0], 'this must not be empty; write a name'],
        [['redact', 1], 'this must not be empty; write a name'],
      ],
    ],
    [
      'rules that are none',
      { deny_commands: ['rm'], deny_output: [null] },
      [
        [['deny_commands', 0], 'this must be {pattern, message}'],
        [['deny_output', 0], 'this must be {pattern, action}'],
      ],
    ],
    [
      'an action that is missing',
      { deny_output: [{ pattern: 'a' }] },
      [[['deny_output', 0, 'action'], 'this must be one of block, redact']],
    ],
    [
      'lists that are none',
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
  ])('are refused with %s, each told in its place', (_, value, problems) => {
    expect(readSkillBlock(value)).toEqual(problems.map(([path, message]) => ({ path, message })));
  });
});
