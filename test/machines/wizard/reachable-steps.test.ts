import { describe, expect, it } from 'vitest';
import {
  type AgentAnswers,
  firstAnswers,
  firstApproval,
  type Step,
  steps,
} from '../../../src/machines/wizard/agent-answers.ts';
import { isReachable } from '../../../src/machines/wizard/wrong-answers.ts';
import { noOffer } from './some-answers.ts';

describe('a step can be reached', () => {
  const named = { ...firstAnswers, name: 'x' };
  const held = { ...firstApproval, timeout: '0' };
  const always: Step[] = ['name', 'provider', 'channels', 'tools', 'auth', 'egress', 'security'];

  it.each<[string, AgentAnswers, Step[]]>([
    ['up to the first wrong answer', firstAnswers, ['name']],
    ['to the end without a wrong answer', named, [...always, 'approvals', 'review']],
    [
      'up to a wrong answer in the middle',
      { ...named, auth: { mode: 'magic', settings: {} } },
      ['name', 'provider', 'channels', 'tools', 'auth'],
    ],
    [
      'up to the last step with a question',
      { ...named, approvals: { datetime_now: held } },
      [...always, 'approvals'],
    ],
  ])('%s', (_, answers, reachable) => {
    expect(steps.filter((step) => isReachable(step, answers, noOffer))).toEqual(reachable);
  });
});
