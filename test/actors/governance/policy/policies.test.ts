import { describe, expect, it } from 'vitest';
import { createActor, toPromise } from 'xstate';
import type { IntentScorer } from '../../../../src/actors/governance/alignment/alignment.ts';
import {
  createGovernInForce,
  Policies,
  type PolicyVersion,
} from '../../../../src/actors/governance/policy/policies.ts';
import { randomIds } from '../../../../src/actors/random-ids.ts';
import { aPolicy } from '../../../helpers/a-policy.ts';
import { toolCalled } from '../../../helpers/system-story.ts';
import { aCall, aDeferRule, aTaskInput, toolRules } from '../../../helpers/task-fixtures.ts';

const version = (sha256: string, rest: Partial<PolicyVersion> = {}): PolicyVersion => ({
  sha256,
  policy: aPolicy(),
  scorer: null,
  mostWaiting: 1,
  ...rest,
});

describe('a call whose ruling has begun', () => {
  it('keeps its policy to the end, and names it, when another one replaces it', async () => {
    const asked = Promise.withResolvers<Awaited<ReturnType<IntentScorer>>>();
    const first = version('first', {
      scorer: () => asked.promise,
      policy: aPolicy({
        rulesFor: () => toolRules({ judgesIntent: true, defer: aDeferRule() }),
      }),
    });
    const policies = new Policies(first);
    const quiet = () => undefined;
    const logic = createGovernInForce(policies, {
      tools: new Map([['issue_refund', toolCalled('issue_refund')]]),
      ids: randomIds(),
      log: { info: quiet, warn: quiet, error: quiet },
    });
    const rule = () => {
      const call = aCall({ tool: 'issue_refund' });
      const { request } = aTaskInput();
      const input = { taskId: 't', call, request, requester: null, scores: [], now: 0 };
      return toPromise(createActor(logic, { input }).start());
    };
    const ruling = rule();
    policies.replace(version('second'));
    asked.resolve({ decision: 'allow', score: 1, reason: 'fits' });
    expect(await ruling).toMatchObject({
      kind: 'defer',
      call: { policySha256: 'first' },
      facts: [
        { type: 'intent.judged' },
        { type: 'call.ruled', call: { policySha256: 'first' } },
        { type: 'deferral.opened', policySha256: 'first' },
      ],
    });
    expect(await rule()).toMatchObject({ kind: 'allow', call: { policySha256: 'second' } });
  });
});

it('a replaced policy is kept for its calls; a policy of another process is the current one', () => {
  const [first, second] = [version('first'), version('second')];
  const policies = new Policies(first);
  policies.replace(second);
  expect(
    [{ policySha256: 'first' }, { policySha256: 'second' }, { policySha256: 'other' }, {}].map(
      (call) => policies.of(call).sha256,
    ),
  ).toEqual(['first', 'second', 'second', 'second']);
});
