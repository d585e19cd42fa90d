import { describe, expect, it } from 'vitest';
import { compileGuardrails } from '../../../../src/actors/governance/guardrails/guardrails.ts';
import { guardrailsOf, someRules } from './some-rules.ts';

describe('a value that is not a list of rules', () => {
  it.each([[null], [{}], [someRules({ denied_tools: [null as never] })]])(
    'is refused with a message, without an exception: %j',
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

  it('keep their source', () => {
    expect(nothing.rules).toEqual(someRules());
  });

  it('request no text of a prompt', () => {
    const asked: string[] = [];
    const texts = () => {
      asked.push('asked');
      return ['a prompt'];
    };
    expect(nothing.checkPrompt(texts)).toEqual({ denial: null, findings: [] });
    expect(asked).toEqual([]);
  });

  it('read neither a call nor an output, so that neither can break them', () => {
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
