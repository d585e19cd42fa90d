import { describe, expect, it } from 'vitest';
import {
  compileRules,
  problemsOf,
} from '../../../../src/actors/governance/guardrails/compile-rules.ts';
import { readGuardrailPattern } from '../../../../src/actors/governance/guardrails/guardrail-pattern.ts';
import type { RuleBlock } from '../../../../src/actors/governance/guardrails/rules.ts';
import { someRules } from './some-rules.ts';

const none = {
  commands: [],
  prompts: [],
  blocks: [],
  redactions: [],
  tools: [],
  redact: [],
  problems: [],
};

const ready = (rule: string, source: string, shown = source) => ({
  rule,
  pattern: readGuardrailPattern(source),
  shown,
});

const every: RuleBlock = {
  deny_commands: [{ pattern: 'rm' }, { pattern: 'curl', message: 'no network' }],
  deny_prompts: [{ pattern: 'ignore', message: '' }],
  deny_output: [
    { pattern: 'secret', action: 'block' },
    { pattern: 'token', action: 'redact' },
    { pattern: 'key', action: 'block' },
  ],
  denied_tools: ['pay', 'wire'],
  redact: ['email', 'secrets'],
};

/** What every rule compiles to when its source is called so. */
const compiled = (source: string) => ({
  commands: [
    ready(`${source}deny_commands[0]`, 'rm'),
    ready(`${source}deny_commands[1]`, 'curl', 'no network'),
  ],
  prompts: [ready(`${source}deny_prompts[0]`, 'ignore')],
  blocks: [ready(`${source}deny_output[0]`, 'secret'), ready(`${source}deny_output[2]`, 'key')],
  redactions: [ready(`${source}deny_output[1]`, 'token')],
  tools: [
    { rule: `${source}denied_tools[0]`, name: 'pay' },
    { rule: `${source}denied_tools[1]`, name: 'wire' },
  ],
  redact: [
    { source, name: 'email' },
    { source, name: 'secrets' },
  ],
  problems: [],
});

const broken: RuleBlock = {
  deny_commands: [{ pattern: 'fine' }, { pattern: 'a)' }],
  deny_prompts: [{ pattern: '' }],
  deny_output: [{ pattern: 'a*', action: 'redact' }],
  denied_tools: [],
  redact: ['pii', 'phnoe'],
};

/** What is wrong in the broken rules when they stand in a place. */
const problems = (...place: (string | number)[]) => [
  {
    path: [...place, 'deny_commands', 1, 'pattern'],
    message: 'the pattern has a ) without its (; open it or write \\)',
  },
  {
    path: [...place, 'deny_prompts', 0, 'pattern'],
    message: 'the pattern is empty and would match every text; write one',
  },
  {
    path: [...place, 'deny_output', 0, 'pattern'],
    message:
      'the pattern can match the empty string and so every text; make a part of it mandatory',
  },
  {
    path: [...place, 'redact', 1],
    message: 'there is no redaction rule of this name; did you mean phone?',
  },
];

describe('compiled rules', () => {
  it('are empty without source rules', () => {
    expect(compileRules(someRules())).toEqual(none);
    expect(compileRules(someRules({ skills: [] }))).toEqual(none);
  });

  it('are named by their list and index, and reported by message or pattern', () => {
    expect(compileRules(every)).toEqual(compiled(''));
  });

  it('are named by their skill too', () => {
    expect(compileRules(someRules({ skills: [{ id: 'refunds', rules: every }] }))).toEqual(
      compiled('skill refunds '),
    );
  });

  it('have those of the configuration before those of skills', () => {
    const skill = (id: string, name: string) => ({
      id,
      rules: someRules({ denied_tools: [name] }),
    });
    const rules = someRules({
      denied_tools: ['pay'],
      skills: [skill('a', 'wire'), skill('b', 'buy')],
    });
    expect(compileRules(rules)).toEqual({
      ...none,
      tools: [
        { rule: 'denied_tools[0]', name: 'pay' },
        { rule: 'skill a denied_tools[0]', name: 'wire' },
        { rule: 'skill b denied_tools[0]', name: 'buy' },
      ],
    });
  });
});

describe('malformed rules', () => {
  it('are omitted, and each is a problem in its place', () => {
    expect(compileRules(broken)).toEqual({
      ...none,
      commands: [ready('deny_commands[0]', 'fine')],
      redact: [{ source: '', name: 'pii' }],
      problems: problems(),
    });
    expect(problemsOf(broken)).toEqual(problems());
    expect(problemsOf(every)).toEqual([]);
  });

  it('are a problem in the place of their skill', () => {
    const skills = [
      { id: 'a', rules: every },
      { id: 'b', rules: broken },
    ];
    expect(compileRules(someRules({ skills })).problems).toEqual(problems('skills', 1));
  });

  it('are a problem of the unreadable skill, and the others are read', () => {
    const skills = [
      { id: 'a', rules: null },
      { id: 'b', rules: every },
    ];
    expect(compileRules(someRules({ skills }))).toEqual({
      ...compiled('skill b '),
      problems: [
        { path: ['skills', 0], message: 'the guardrails of skill a are broken; fix them' },
      ],
    });
  });
});
