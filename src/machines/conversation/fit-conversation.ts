import type { Exchange, FollowUp, Message } from '../task/task.ts';
import { exchangeTokens, messageTokens } from './estimate-tokens.ts';

/** What a model is told in one turn. */
export interface ToldConversation {
  /** Messages of before the run, oldest first. */
  history: Message[];
  /** The message that started the run. */
  request: Message;
  /** Calls of the run with their results, oldest first. */
  exchanges: Exchange[];
  /** What was said while calls waited; each stands behind `after` exchanges. */
  followUps: FollowUp[];
  /** How many exchanges, and what was said until then, the model heard in earlier turns. */
  told: number;
}

/** A conversation within a budget; `tooLong` when what must stay is not. `tokens` are estimated. */
export type FittedConversation =
  | { kind: 'fits'; conversation: ToldConversation; tokens: number }
  | { kind: 'tooLong'; tokens: number };

/**
 * Shortens a conversation until it is within a budget of estimated tokens, oldest first: results that the model has
 * heard become one line that says so, then messages of before the run go, then calls of the run each with its result and
 * what was said beside it. The request and what the model has not heard yet stay whole.
 */
export function fitConversation(whole: ToldConversation, budget: number): FittedConversation {
  const steps = [leaveOutResults, dropHistory, dropExchanges];
  let conversation = whole;
  let tokens = tokensOf(whole);
  for (const step of steps) {
    if (tokens <= budget) break;
    conversation = step(conversation, tokens - budget);
    tokens = tokensOf(conversation);
  }
  return tokens <= budget ? { kind: 'fits', conversation, tokens } : { kind: 'tooLong', tokens };
}

/** Estimates the tokens of a conversation. */
export function tokensOf({ history, request, exchanges, followUps }: ToldConversation): number {
  const messages = [...history, request, ...followUps.map(({ message }) => message)];
  return sum(messages.map(messageTokens)) + sum(exchanges.map(exchangeTokens));
}

/** Returns the line that stands for a result which the model is not told again. */
export function leftOutResult({ call, result }: Exchange): string {
  return `[result of ${call.tool}, ${result.length} characters, left out]`;
}

function leaveOutResults(conversation: ToldConversation, excess: number): ToldConversation {
  let over = excess;
  const exchanges = conversation.exchanges.map((exchange, index) => {
    if (over <= 0 || index >= conversation.told) return exchange;
    const short = { ...exchange, result: leftOutResult(exchange) };
    const saved = exchangeTokens(exchange) - exchangeTokens(short);
    if (saved <= 0) return exchange;
    over -= saved;
    return short;
  });
  return { ...conversation, exchanges };
}

/** An answer does not stay without what it answers. */
function dropHistory(conversation: ToldConversation, excess: number): ToldConversation {
  const { history } = conversation;
  let over = excess;
  let first = 0;
  while (first < history.length && (over > 0 || history[first]?.role === 'agent')) {
    over -= messageTokens(history[first] as Message);
    first += 1;
  }
  return { ...conversation, history: history.slice(first) };
}

function dropExchanges(conversation: ToldConversation, excess: number): ToldConversation {
  const { exchanges, followUps, told } = conversation;
  let over = excess;
  let dropped = 0;
  let saidBefore = 0;
  while (over > 0 && dropped < told) {
    over -= exchangeTokens(exchanges[dropped] as Exchange);
    dropped += 1;
    while (followUps[saidBefore] !== undefined && isBehind(followUps[saidBefore], dropped)) {
      over -= messageTokens((followUps[saidBefore] as FollowUp).message);
      saidBefore += 1;
    }
  }
  return {
    ...conversation,
    exchanges: exchanges.slice(dropped),
    followUps: followUps
      .slice(saidBefore)
      .map((followUp) => ({ ...followUp, after: followUp.after - dropped })),
    told: told - dropped,
  };
}

function isBehind(followUp: FollowUp | undefined, dropped: number): boolean {
  return followUp !== undefined && followUp.after <= dropped;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
