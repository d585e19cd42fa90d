import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../../src/actors/governance/policy/policy.ts';
import { screenPrompt } from '../../../../src/actors/governance/policy/screen-prompt.ts';
import { aPolicy } from '../../../helpers/a-policy.ts';
import { aRefusal, aTaskInput } from '../../../helpers/task-fixtures.ts';

const { request } = aTaskInput();
const error = new Error('the rules are gone');

function screened(policy: Partial<Policy>) {
  const logged: unknown[] = [];
  const quiet = () => undefined;
  const log = {
    ...{ info: quiet, warn: quiet },
    error: (fields: object, message: string) => logged.push([fields, message]),
  };
  return { screening: screenPrompt(request, { policy: aPolicy(policy), log }), logged };
}

describe('the screening of a message', () => {
  it('returns the ruling of the policy on this message, and its duration', () => {
    const asked: unknown[] = [];
    const refusal = aRefusal();
    const refusalOf: Policy['refusalOf'] = (message) => {
      asked.push(message);
      return refusal;
    };
    const { screening, logged } = screened({ refusalOf });
    expect(screening).toEqual({ refusal, took: expect.any(Number) });
    expect(screening.took).toBeGreaterThanOrEqual(0);
    expect({ asked, logged }).toEqual({ asked: [request], logged: [] });
  });

  it('allows a message without a denial', () => {
    expect(screened({}).screening.refusal).toBeNull();
  });

  it('refuses a message that cannot be read, and the log has the reason', () => {
    const refusalOf = (): never => {
      throw error;
    };
    const { screening, logged } = screened({ refusalOf });
    const what = 'the message could not be checked';
    expect(screening).toEqual({
      refusal: {
        text: `governance failed: ${what}`,
        findings: [{ gate: 'governance', decision: 'deny', rule: what }],
      },
      took: expect.any(Number),
    });
    expect(logged).toEqual([[{ error }, `governance: ${what}`]]);
  });
});
