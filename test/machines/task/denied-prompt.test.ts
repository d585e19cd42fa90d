import { expect, it } from 'vitest';
import { begin, seen } from '../../helpers/step-task.ts';

const text = 'denied by guardrail: no secrets';
const rule = { gate: 'deny_prompts', decision: 'deny', rule: 'deny_prompts[0]' } as const;

it('ends a task whose message is denied before the model hears of it', () => {
  const denied = begin({ refusal: { text, findings: [rule], duration: 0.2 } });
  expect(seen(denied)).toEqual({
    value: 'failed',
    tags: ['failed', 'final'],
    effects: [
      ['note', { type: 'session.started' }],
      ['note', { type: 'rule.matched', tool: null, ...rule }],
      ['note', { type: 'session.ended', state: 'failed' }],
    ],
  });
  expect(denied.snapshot.context).toMatchObject({
    failure: { kind: 'denied', tool: null, layer: 'prompt', text },
    records: [
      { callId: null, tool: null, layer: 'prompt', decision: 'deny', reason: text, duration: 0.2 },
    ],
    turns: 0,
  });
});
