import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createActor, toPromise } from 'xstate';
import type { IntentScorer } from '../../../../src/actors/governance/alignment/alignment.ts';
import { createGovern } from '../../../../src/actors/governance/policy/govern.ts';
import type { Policy } from '../../../../src/actors/governance/policy/policy.ts';
import { randomIds } from '../../../../src/actors/random-ids.ts';
import { aPolicy } from '../../../helpers/a-policy.ts';
import { toolCalled } from '../../../helpers/system-story.ts';
import { aCall, aTaskInput, toolRules } from '../../../helpers/task-fixtures.ts';

const error = new Error('the rules are gone');
const breaks = (): never => {
  throw error;
};

function govern(policy: Policy, scorer: IntentScorer | null = null, tool = 'issue_refund') {
  const logged: unknown[] = [];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (fields: object, message: string) => logged.push([fields, message]),
  };
  const tools = new Map([['issue_refund', toolCalled('issue_refund')]]);
  const { request } = aTaskInput();
  const actor = createActor(createGovern({ policy, scorer, tools, ids: randomIds(), log }), {
    input: {
      taskId: 'task-1',
      call: aCall({ tool }),
      request,
      requester: null,
      scores: [],
      now: 0,
    },
  }).start();
  return { actor, ruling: toPromise(actor), logged };
}

describe('a layer that throws', () => {
  it.each<[string, Partial<Policy>, string, string]>([
    ['the policy', { rulesFor: breaks }, 'alignment', 'the policy could not be consulted'],
    ['the effects', { boundsOf: breaks }, 'alignment', 'the policy could not be consulted'],
    ['MODIFY', { modify: breaks }, 'modify', 'MODIFY could not be carried out'],
  ])('denies: %s, and the log has the reason', async (_name, broken, layer, what) => {
    const { ruling, logged } = govern(aPolicy(broken));
    expect(await ruling).toMatchObject({
      kind: 'deny',
      layer,
      text: `governance failed: ${what}`,
      facts: [
        { type: 'rule.matched', gate: 'governance', decision: 'deny', rule: what },
        { type: 'call.ruled', decision: 'deny', layer, reason: `governance failed: ${what}` },
      ],
    });
    expect(logged).toEqual([
      [{ error, tool: 'issue_refund', call_id: 'call-1' }, `governance: ${what}`],
    ]);
  });

  it.each<[string, IntentScorer | null, Error]>([
    ['that is missing', null, new Error('intent alignment has no judge')],
    ['that throws', breaks, error],
  ])('denies: a scorer %s', async (_name, scorer, thrown) => {
    const policy = aPolicy({ rulesFor: () => toolRules({ judgesIntent: true }) });
    const { ruling, logged } = govern(policy, scorer);
    expect(await ruling).toMatchObject({
      kind: 'deny',
      text: 'governance failed: intent alignment broke',
    });
    expect(logged).toEqual([
      [
        { error: thrown, tool: 'issue_refund', call_id: 'call-1' },
        'governance: intent alignment broke',
      ],
    ]);
  });
});

describe('a governed call', () => {
  it('sends the scorer the compared texts', async () => {
    const questions: unknown[] = [];
    const scorer: IntentScorer = async ({ signal, ...question }) => {
      questions.push(question);
      expect(signal.aborted).toBe(false);
      return { decision: 'allow', score: 0.9, reason: 'fits' };
    };
    await govern(aPolicy({ rulesFor: () => toolRules({ judgesIntent: true }) }), scorer).ruling;
    expect(questions).toEqual([
      {
        request: aTaskInput().request,
        tool: 'issue_refund',
        toolDescription: 'Does issue_refund.',
        args: { order: 7 },
      },
    ]);
  });

  it('sends the scorer no description of an unknown tool', async () => {
    const descriptions: string[] = [];
    const scorer: IntentScorer = async ({ toolDescription }) => {
      descriptions.push(toolDescription);
      return { decision: 'allow', score: 0.9, reason: 'fits' };
    };
    const policy = aPolicy({ rulesFor: () => toolRules({ judgesIntent: true }) });
    expect(await govern(policy, scorer, 'ghost').ruling).toMatchObject({ kind: 'allow' });
    expect(descriptions).toEqual(['']);
  });

  it('records nothing of a scorer that stops because the call is over', async () => {
    const given: AbortSignal[] = [];
    const gaveUp = Promise.withResolvers<void>();
    const scorer: IntentScorer = ({ signal }) =>
      new Promise((_, reject) => {
        given.push(signal);
        signal.addEventListener('abort', () => {
          reject(new Error('gave up'));
          gaveUp.resolve();
        });
      });
    const policy = aPolicy({ rulesFor: () => toolRules({ judgesIntent: true }) });
    const { actor, ruling, logged } = govern(policy, scorer);
    ruling.catch(() => undefined);
    actor.stop();
    await gaveUp.promise;
    await turn();
    expect(given.map(({ aborted }) => aborted)).toEqual([true]);
    expect(logged).toEqual([]);
  });

  it('records the duration of each layer', async () => {
    const { records } = await govern(aPolicy()).ruling;
    expect(records).toHaveLength(4);
    for (const { duration } of records) {
      expect(duration).toBeGreaterThanOrEqual(0);
      expect(Math.round(duration * 1000) / 1000).toBe(duration);
    }
    expect(records.some(({ duration }) => duration > 0)).toBe(true);
  });
});
