import { describe, expect, it } from 'vitest';
import { compileGuardrails } from '../../../../src/actors/governance/guardrails/guardrails.ts';
import { guardrailsOf, someRules } from './some-rules.ts';

describe('rules that are no rules', () => {
  it.each([[null], [{}], [someRules({ denied_tools: [null as never] })]])(
    'are refused in a sentence, and nothing is thrown: %j',
    (rules) => {
      expect(compileGuardrails(rules as never)).toEqual({
        ok: false,
        problems: [
          {
            path: [],
            message: 'the guardrails could not be compiled; look for a rule of an unusual form',
          },
        ],
      });
    },
  );
});

describe('guardrails without rules', () => {
  const nothing = guardrailsOf({});

  it('know what they were made of', () => {
    expect(nothing.rules).toEqual(someRules());
  });

  it('ask for no text of a prompt', () => {
    const asked: string[] = [];
    const texts = () => {
      asked.push('asked');
      return ['a prompt'];
    };
    expect(nothing.checkPrompt(texts)).toEqual({ denial: null, findings: [] });
    expect(asked).toEqual([]);
  });

  it('look neither at a call nor at an output, so that neither can break them', () => {
    let deep: any = 'x';
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(nothing.checkCall('pay', { deep })).toEqual({ denial: null, findings: [] });
    expect(nothing.checkOutput(null as never)).toEqual({
      kind: 'passed',
      text: null,
      findings: [],
    });
  });
});
