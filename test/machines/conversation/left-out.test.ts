import { describe, expect, it } from 'vitest';
import {
  exchangeTokens,
  messageTokens,
  saidTokens,
} from '../../../src/machines/conversation/estimate-tokens.ts';
import {
  fitConversation,
  leftOutResult,
  type ToldConversation,
  tokensOf,
} from '../../../src/machines/conversation/fit-conversation.ts';
import type { Exchange, FollowUp, Message, SaidTurn } from '../../../src/machines/domain/task.ts';
import { aCall, aFollowUp } from '../../helpers/task-fixtures.ts';

const message = (messageId: string, role: Message['role'] = 'user'): Message => ({
  role,
  messageId,
  parts: [{ kind: 'text', text: 'x'.repeat(400) }],
});
const exchange = (id: string, length = 400): Exchange => ({
  call: aCall({ id }),
  result: 'y'.repeat(length),
});
const short = (one: Exchange): Exchange => ({ ...one, result: leftOutResult(one) });
const turn = (after: number): SaidTurn => ({
  after,
  by: { provider: 'p', model: 'm' },
  parts: [{ kind: 'thought', text: 'z'.repeat(400) }, { kind: 'call' }],
});
const followUp = (text: string, after: number): FollowUp => ({
  ...aFollowUp(text),
  message: message(text),
  after,
});

const request = message('request');
const history = [
  message('h-0'),
  message('h-1', 'agent'),
  message('h-2'),
  message('h-3', 'agent'),
  message('h-4', 'agent'),
  message('h-5'),
];
const calls = ['c-0', 'c-1', 'c-2', 'c-3', 'c-4'].map((id) => exchange(id));
const [c0, c1, c2, c3, c4] = calls as [Exchange, Exchange, Exchange, Exchange, Exchange];

/** A run of three turns, of which the last is unheard; the first asked for two calls. */
const whole: ToldConversation = {
  history,
  request,
  exchanges: calls,
  said: [turn(0), turn(2), turn(3)],
  followUps: [followUp('f-2', 2), followUp('f-3', 3), followUp('f-5', 5)],
  told: 3,
};
const withoutResults = { ...whole, exchanges: [short(c0), short(c1), short(c2), c3, c4] };
const withoutHistory = { ...withoutResults, history: [] };
const withoutTurn = {
  ...withoutHistory,
  exchanges: [short(c2), c3, c4],
  said: [turn(0), turn(1)],
  followUps: [followUp('f-3', 1), followUp('f-5', 3)],
  told: 1,
};
const withoutTurns = {
  ...withoutTurn,
  exchanges: [c3, c4],
  said: [turn(0)],
  followUps: [followUp('f-5', 2)],
  told: 0,
};

describe('the parts that are cut from a conversation', () => {
  it.each<[string, ToldConversation, number, ToldConversation, [number, number, number] | null]>([
    ['nothing when it is within the budget', whole, tokensOf(whole), whole, null],
    [
      'the oldest result when that is enough',
      whole,
      tokensOf({ ...whole, exchanges: [short(c0), ...calls.slice(1)] }),
      { ...whole, exchanges: [short(c0), ...calls.slice(1)] },
      [1, 0, 0],
    ],
    [
      'another result when one token is missing',
      whole,
      tokensOf({ ...whole, exchanges: [short(c0), ...calls.slice(1)] }) - 1,
      { ...whole, exchanges: [short(c0), short(c1), ...calls.slice(2)] },
      [2, 0, 0],
    ],
    [
      'every result that the model has received',
      whole,
      tokensOf(withoutResults),
      withoutResults,
      [3, 0, 0],
    ],
    [
      'then the oldest message with its answer',
      whole,
      tokensOf(withoutResults) - 1,
      { ...withoutResults, history: history.slice(2) },
      [3, 2, 0],
    ],
    [
      'no further message when two are enough',
      whole,
      tokensOf({ ...withoutResults, history: history.slice(2) }),
      { ...withoutResults, history: history.slice(2) },
      [3, 2, 0],
    ],
    [
      'one more message with both of its answers',
      whole,
      tokensOf({ ...withoutResults, history: history.slice(2) }) - 1,
      { ...withoutResults, history: history.slice(5) },
      [3, 5, 0],
    ],
    ['every message before the run', whole, tokensOf(withoutHistory), withoutHistory, [3, 6, 0]],
    [
      'then the oldest turn with its calls and the messages after them',
      whole,
      tokensOf(withoutHistory) - 1,
      withoutTurn,
      [1, 6, 1],
    ],
    ['no further turn when one is enough', whole, tokensOf(withoutTurn), withoutTurn, [1, 6, 1]],
    [
      'every turn that the model has received',
      whole,
      tokensOf(withoutTurn) - 1,
      withoutTurns,
      [0, 6, 2],
    ],
  ])('is %s', (_name, asked, budget, conversation, leftOut) => {
    const [results, messages, turns] = leftOut ?? [];
    expect(fitConversation(asked, budget)).toEqual({
      kind: 'fits',
      conversation,
      tokens: tokensOf(conversation),
      whole: tokensOf(asked),
      leftOut: leftOut === null ? null : { results, messages, turns },
    });
  });

  it('are replaced by a line that names the tool and the length of its result', () => {
    expect(leftOutResult(c0)).toBe('[result of issue_refund, 400 characters, left out]');
  });

  it('include no result whose line would be as long', () => {
    const line = leftOutResult(exchange('c-0', 50));
    const same = { ...exchange('c-0'), result: 'y'.repeat(line.length) };
    const asked = { ...whole, exchanges: [same, c1, c2, c3, c4] };
    const fitted = { ...asked, exchanges: [same, short(c1), c2, c3, c4] };
    expect(fitConversation(asked, tokensOf(asked) - 1)).toMatchObject({ conversation: fitted });
  });

  it('do not include required parts, which may be too long', () => {
    const tokens = tokensOf(withoutTurns);
    expect([tokens, tokens - 1].map((budget) => fitConversation(whole, budget).kind)).toEqual([
      'fits',
      'tooLong',
    ]);
    expect(fitConversation(whole, tokens - 1)).toEqual({ kind: 'tooLong', tokens });
  });

  it('are counted as messages, calls with results, and messages next to calls', () => {
    const messages = [...history, request, ...whole.followUps.map((one) => one.message)];
    expect(tokensOf(whole)).toBe(
      messages.length * messageTokens(request) +
        calls.length * exchangeTokens(c0) +
        3 * saidTokens(turn(0)),
    );
  });
});
