import { textTokens } from '../../../machines/conversation/estimate-tokens.ts';
import { fitConversation } from '../../../machines/conversation/fit-conversation.ts';
import { type LanguageModel, ModelError, type Tool } from '../../ports.ts';

/** What a conversation has to fit into. */
export interface ContextBudget {
  /** Tokens that the model is told in one turn, at most. */
  tokens: number;
  /** What the model is offered; read anew at each turn. */
  tools: () => Iterable<Tool>;
  /** What it is told before anything else; `null` for nothing. */
  instructions: () => string | null;
}

/**
 * Wraps a model so that it is told no more than fits into a budget; what was estimated comes back with the turn, for the
 * provider's own count to correct it. The instructions and the tools are always told whole.
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
