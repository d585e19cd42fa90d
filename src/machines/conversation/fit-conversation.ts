import type { LeftOut } from '../domain/compaction.ts';
import type { Exchange, FollowUp, Message, SaidTurn } from '../domain/task.ts';
import { turnsOf } from '../task/turns-of.ts';
import { exchangeTokens, messageTokens, saidTokens } from './estimate-tokens.ts';

/** The input of a model in one turn. */
export interface ToldConversation {
  /** Messages from before the run, oldest first. */
  history: Message[];
  /** The message that started the run. */
  request: Message;
  /** Calls of the run and their results, oldest first. */
  exchanges: Exchange[];
  /** The model's other output in the turns that requested these calls. */
  said: SaidTurn[];
  /** Messages sent while calls were held; each is placed after `after` exchanges. */
  followUps: FollowUp[];
  /** Number of exchanges, with their follow-ups, that the model received in earlier turns. */
  told: number;
}

/**
 * A conversation within a budget; `tooLong` if the mandatory parts exceed the budget. `tokens` and the tokens of the
 * `whole` are estimates.
 */
export type FittedConversation =
  | {
      kind: 'fits';
      conversation: ToldConversation;
      tokens: number;
      whole: number;
      /** `null` if nothing was omitted. */
      leftOut: LeftOut | null;
    }
  | { kind: 'tooLong'; tokens: number };

/**
 * Shortens a conversation to a budget of estimated tokens, oldest parts first. Results that the model has already
 * received are reduced to a one-line note. Then messages from before the run are dropped, and then whole turns of the
 * run with their calls, results and other output. The request and everything the model has not received yet stay
 * complete.
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

/** Returns the one-line note that replaces a result. */
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

/** An answer is dropped together with the message that it answers. */
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

/** Calls of one turn are kept or dropped together, because providers reject a call without its result. */
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
