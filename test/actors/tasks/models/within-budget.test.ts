import { describe, expect, it } from 'vitest';
import type { Conversation, LanguageModel } from '../../../../src/actors/ports/model.ts';
import { modelWithinBudget } from '../../../../src/actors/tasks/models/create-model.ts';
import type { Compaction } from '../../../../src/machines/domain/compaction.ts';
import { conversationOf } from '../../../helpers/model-conversation.ts';
import { toolCalled } from '../../../helpers/system-story.ts';
import { aCall } from '../../../helpers/task-fixtures.ts';

function withinBudget(tokens: number, instructions: string | null = null) {
  const told: Conversation[] = [];
  const model: LanguageModel = {
    provider: 'p',
    name: 'm',
    next: async (conversation) => {
      told.push(conversation);
      return { text: 'done', calls: [], inputTokens: 1, outputTokens: 1 };
    },
  };
  const budget = { tokens, tools: () => [toolCalled('pay')], instructions: () => instructions };
  const within = modelWithinBudget(model, budget);
  const compacted: Compaction[] = [];
  const next = (conversation: Conversation) =>
    within.next(conversation, {
      signal: new AbortController().signal,
      onToken: () => undefined,
      onCompacted: (compaction) => compacted.push(compaction),
    });
  return { told, compacted, next };
}

const long = 'y'.repeat(4_000);
const exchanges = [1, 2].map((n) => ({ call: aCall({ id: `call-${n}`, args: {} }), result: long }));

describe('a model with a context budget', () => {
  it('receives older results in one line, and the last turn unchanged', async () => {
    const { told, next } = withinBudget(1_500);
    const turn = await next(conversationOf('refund', { exchanges, told: 1 }));
    expect(told[0]?.exchanges.map(({ result }) => result)).toEqual([
      '[result of issue_refund, 4000 characters, left out]',
      long,
    ]);
    expect(turn.estimatedTokens).toBeGreaterThan(1_000);
    expect(turn.estimatedTokens).toBeLessThanOrEqual(1_500);
  });

  it('reports how much was omitted, and nothing where all was sent', async () => {
    const { compacted, next } = withinBudget(1_500);
    const history = [1, 2].map((n) => ({
      role: 'user' as const,
      parts: [{ kind: 'text' as const, text: long }],
      messageId: `before-${n}`,
    }));
    const whole = conversationOf('refund', { history, exchanges, told: 1 });
    const turn = await next(whole);
    expect(compacted).toEqual([
      {
        results: 1,
        messages: 2,
        turns: 0,
        tokensBefore: expect.any(Number),
        tokensAfter: turn.estimatedTokens,
      },
    ]);
    expect(compacted[0]?.tokensBefore).toBeGreaterThan(4_000);
    const { compacted: none, next: roomy } = withinBudget(100_000);
    await roomy(whole);
    expect(none).toEqual([]);
  });

  it('receives less when its provider counts more than was estimated', async () => {
    const { told, next } = withinBudget(2_500);
    await next(conversationOf('refund', { exchanges, told: 1 }));
    await next(conversationOf('refund', { exchanges, told: 1, tokensPerEstimate: 2 }));
    expect(told.map(({ exchanges: [first] }) => first?.result.length)).toEqual([4_000, 51]);
  });

  it('is not asked when the request alone is too long with its instructions', async () => {
    const { told, next } = withinBudget(1_000, 'z'.repeat(4_000));
    await expect(next(conversationOf('refund'))).rejects.toThrow(
      /^the conversation is too long: what cannot be omitted takes about 10\d\d tokens, and model.context_budget is 1000; send less at once, have the tools return less, or raise it if the model takes more$/,
    );
    expect(told).toEqual([]);
  });
});
