import type { Exchange, FollowUp, Message, SaidTurn } from '../task/task.ts';
import { turnsOf } from '../task/turns-of.ts';
import type { LeftOut } from './compaction.ts';
import { exchangeTokens, messageTokens, saidTokens } from './estimate-tokens.ts';

/** What a model is told in one turn. */
export interface ToldConversation {
  /** Messages of before the run, oldest first. */
  history: Message[];
  /** The message that started the run. */
  request: Message;
  /** Calls of the run with their results, oldest first. */
  exchanges: Exchange[];
  /** What the model said in the turns that asked for them. */
  said: SaidTurn[];
  /** What was said while calls waited; each stands behind `after` exchanges. */
  followUps: FollowUp[];
  /** How many exchanges, and what was said until then, the model heard in earlier turns. */
  told: number;
}

/** A conversation within a budget; `tooLong` when what must stay is not. `tokens` are estimated, as are those of the `whole`. */
export type FittedConversation =
  | {
      kind: 'fits';
      conversation: ToldConversation;
      tokens: number;
      whole: number;
      /** `null` when nothing was. */
      leftOut: LeftOut | null;
    }
  | { kind: 'tooLong'; tokens: number };

/**
 * Shortens a conversation until it is within a budget of estimated tokens, oldest first: results that the model has
 * heard become one line that says so, then messages of before the run go, then turns of the run each with its calls, their
 * results and what was said beside them. The request and what the model has not heard yet stay whole.
 */
export function fitConversation(whole: ToldConversation, budget: number): FittedConversation {
  const steps = [leaveOutResults, dropHistory, dropTurns];
  let conversation = whole;
  const before = tokensOf(whole);
  let tokens = before;
  for (const step of steps) {
    if (tokens <= budget) break;
    conversation = step(conversation, tokens - budget);
    tokens = tokensOf(conversation);
  }
  if (tokens > budget) return { kind: 'tooLong', tokens };
  const leftOut = conversation === whole ? null : leftOutOf(whole, conversation);
  return { kind: 'fits', conversation, tokens, whole: before, leftOut };
}

function leftOutOf(whole: ToldConversation, rest: ToldConversation): LeftOut {
  const dropped = whole.exchanges.length - rest.exchanges.length;
  const turnsIn = ({ exchanges, said }: ToldConversation) => turnsOf(exchanges, said).length;
  return {
    results: rest.exchanges.filter((one, index) => one !== whole.exchanges[dropped + index]).length,
    messages: whole.history.length - rest.history.length,
    turns: turnsIn(whole) - turnsIn(rest),
  };
}

/** Estimates the tokens of a conversation. */
export function tokensOf(conversation: ToldConversation): number {
  const { history, request, exchanges, said, followUps } = conversation;
  const messages = [...history, request, ...followUps.map(({ message }) => message)];
  const thinking = sum(said.map(saidTokens));
  return sum(messages.map(messageTokens)) + sum(exchanges.map(exchangeTokens)) + thinking;
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
  for (const message of history) {
    if (over <= 0 && message.role === 'user') break;
    over -= messageTokens(message);
    first += 1;
  }
  return { ...conversation, history: history.slice(first) };
}

/** The calls of one turn stay or go together, as providers take no call without its result. */
function dropTurns(conversation: ToldConversation, excess: number): ToldConversation {
  const { exchanges, said, followUps, told } = conversation;
  let over = excess;
  let dropped = 0;
  let saidBefore = 0;
  for (const turn of turnsOf(exchanges, said)) {
    if (over <= 0 || turn.until > told) break;
    over -= sum(turn.exchanges.map(exchangeTokens));
    over -= turn.said === null ? 0 : saidTokens(turn.said);
    dropped = turn.until;
    for (const { message, after } of followUps.slice(saidBefore)) {
      if (after > dropped) break;
      over -= messageTokens(message);
      saidBefore += 1;
    }
  }
  const later = <Placed extends { after: number }>(placed: Placed) => ({
    ...placed,
    after: placed.after - dropped,
  });
  return {
    ...conversation,
    exchanges: exchanges.slice(dropped),
    said: said.filter(({ after }) => after >= dropped).map(later),
    followUps: followUps.slice(saidBefore).map(later),
    told: told - dropped,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
