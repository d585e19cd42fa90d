import { expect, it, vi } from 'vitest';
import type { LanguageModel } from '../../../src/actors/ports/model.ts';
import type { Tool } from '../../../src/actors/ports/tool.ts';
import { patient } from '../../helpers/patient.ts';
import { toolCalled } from '../../helpers/system-story.ts';
import { anAttempt } from '../../helpers/task-fixtures.ts';
import { nine, openSystem } from '../../helpers/test-system.ts';

/** A model that asks for two calls in one turn. */
const next: LanguageModel['next'] = async ({ exchanges }) => {
  const calls = exchanges.length > 0 ? [] : ['ask', 'pay'].map((tool) => ({ tool, args: {} }));
  return { text: 'done', calls, inputTokens: 0, outputTokens: 0 };
};

it.each([
  [
    'is denied if its definition differs from the one the model was offered',
    'Pays in cents.',
    'failed',
  ],
  ['is held if its definition is the one the model was offered', 'Pays.', 'deferred'],
])('a call that waits behind another one of its turn %s', async (_, description, state) => {
  const pay: { -readonly [Key in keyof Tool]: Tool[Key] } = {
    ...toolCalled('pay'),
    description: 'Pays.',
  };
  const { system } = await openSystem({
    model: { provider: 'test', name: 'two-calls', next },
    tools: [toolCalled('ask'), pay],
    deferred: { ask: {}, pay: {} },
  });
  const message = {
    role: 'user' as const,
    parts: [{ kind: 'text' as const, text: 'pay' }],
    messageId: 'm-1',
  };
  const id = await system.open({ message, requester: null, correlationId: 'c-1' });
  const reached = async (wanted: string, tool: string) =>
    vi.waitFor(async () => {
      const task = await system.reads.find(id);
      expect([task?.state, task?.deferral?.tool ?? tool]).toEqual([wanted, tool]);
      return task;
    }, patient);
  await reached('deferred', 'ask');
  pay.description = description;
  const { kind } = await system.decide(id, anAttempt({ deferralId: null, at: nine }));
  expect(kind).toBe('resolved');
  const task = await reached(state, 'pay');
  expect(task?.failure?.text ?? null).toBe(
    state === 'failed' ? 'the tool has changed since it was offered to the model; ask again' : null,
  );
});
