import { textTokens } from '../../../machines/conversation/estimate-tokens.ts';
import { fitConversation } from '../../../machines/conversation/fit-conversation.ts';
import { type LanguageModel, ModelError } from '../../ports/model.ts';
import type { Tool } from '../../ports/tool.ts';

/** Limits of a conversation's size. */
export interface ContextBudget {
  /** Maximum input tokens of a turn. */
  tokens: number;
  /** Returns the tools of the model; called for each turn. */
  tools: () => Iterable<Tool>;
  /** Returns the system prompt; `null` for none. */
  instructions: () => string | null;
}

/**
 * Wraps a model so that its input stays within a token budget. The turn includes the estimate, which the provider's own
 * count corrects. Instructions and tools are never shortened.
 */
export function modelWithinBudget(model: LanguageModel, budget: ContextBudget): LanguageModel {
  return {
    provider: model.provider,
    name: model.name,
    async next(conversation, options) {
      const { told = conversation.exchanges.length, tokensPerEstimate = 1 } = conversation;
      const always = fixedTokens(budget);
      const room = Math.floor(budget.tokens / tokensPerEstimate) - always;
      const fitted = fitConversation({ ...conversation, told }, room);
      if (fitted.kind === 'tooLong') {
        const needed = Math.ceil((fitted.tokens + always) * tokensPerEstimate);
        throw new ModelError(
          `the conversation is too long: what cannot be left out takes about ${needed} tokens, and model.context_budget is ${budget.tokens}; send less at once, have the tools return less, or raise it if the model takes more`,
        );
      }
      const { leftOut, whole, tokens } = fitted;
      if (leftOut !== null) {
        const counted = (estimated: number) => Math.ceil((estimated + always) * tokensPerEstimate);
        options.onCompacted?.({
          ...leftOut,
          tokensBefore: counted(whole),
          tokensAfter: counted(tokens),
        });
      }
      const turn = await model.next({ ...conversation, ...fitted.conversation }, options);
      return { ...turn, estimatedTokens: fitted.tokens + always };
    },
  };
}

function fixedTokens({ tools, instructions }: ContextBudget): number {
  const offered = [...tools()].map(({ name, description, parameters }) =>
    textTokens(`${name}${description}${JSON.stringify(parameters)}`),
  );
  return offered.reduce((sum, tokens) => sum + tokens, textTokens(instructions() ?? ''));
}
