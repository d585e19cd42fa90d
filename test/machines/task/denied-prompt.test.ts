import { expect, it } from 'vitest';
import { initialTransition } from 'xstate';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import { begin, seen } from '../../helpers/step-task.ts';
import { aCaller, aTaskInput } from '../../helpers/task-fixtures.ts';

const text = 'denied by guardrail: no secrets';
const rule = { gate: 'deny_prompts', decision: 'deny', rule: 'deny_prompts[0]' } as const;

it('a task whose message is denied ends before the model receives the message', () => {
  const denied = begin({}, { refusal: { text, findings: [rule] }, took: 0.2 });
  expect(seen(denied)).toEqual({
    value: 'failed',
    tags: ['failed', 'final'],
    effects: [
      ['note', { type: 'session.started', requester: aCaller() }],
      ['note', { type: 'rule.matched', tool: null, ...rule }],
      ['note', { type: 'session.ended', state: 'failed' }],
    ],
  });
  expect(denied.snapshot.context).toMatchObject({
    failure: { kind: 'denied', tool: null, layer: 'prompt', text },
    records: [
      { callId: null, tool: null, layer: 'prompt', decision: 'deny', reason: text, duration: 0.2 },
    ],
    spent: { turns: 0 },
  });
});

it('a message is not accepted while no screen is connected', () => {
  const [{ value, context }] = initialTransition(taskMachine, aTaskInput());
  expect([value, context.failure]).toEqual([
    'failed',
    {
      kind: 'denied',
      tool: null,
      layer: 'prompt',
      text: 'governance failed: the message was not screened',
    },
  ]);
});
