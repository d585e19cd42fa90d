import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageTokens, textTokens } from '../../../src/machines/conversation/estimate-tokens.ts';
import {
  fitConversation,
  leftOutResult,
  type ToldConversation,
  tokensOf,
} from '../../../src/machines/conversation/fit-conversation.ts';
import type { Exchange, Message } from '../../../src/machines/domain/task.ts';
import { runs } from '../../helpers/runs.ts';
import { aCall, aFollowUp } from '../../helpers/task-fixtures.ts';

const message = (id: string, role: Message['role'], length: number): Message => ({
  role,
  messageId: id,
  parts: [{ kind: 'text', text: 'x'.repeat(length) }],
});
const exchange = (id: string, length: number): Exchange => ({
  call: aCall({ id, args: {} }),
  result: 'y'.repeat(length),
});

const sizes = fc.array(fc.nat({ max: 3_000 }), { maxLength: 12 });
const conversations: fc.Arbitrary<ToldConversation> = fc
  .record({
    past: sizes,
    results: sizes,
    asked: fc.nat({ max: 500 }),
    heard: fc.nat(),
    cuts: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    thoughts: fc.nat({ max: 2_000 }),
    said: sizes,
  })
  .map(({ past, results, asked, heard, cuts, thoughts, said }) => {
    const starts = results.map((_, index) => index).filter((index) => index === 0 || cuts[index]);
    return {
      history: past.map((length, index) =>
        message(`h${index}`, length % 3 === 0 ? 'agent' : 'user', length),
      ),
      request: message('request', 'user', asked),
      exchanges: results.map((length, index) => exchange(`call-${index}`, length)),
      followUps: said.slice(0, results.length).map((length, index) => ({
        ...aFollowUp(`f${index}`),
        message: message(`f${index}`, 'user', length),
        after: index + 1,
      })),
      said: starts.map((after) => ({
        after,
        by: { provider: 'p', model: 'm' },
        parts: [
          { kind: 'thought' as const, text: 'z'.repeat(thoughts) },
          { kind: 'call' as const },
        ],
      })),
      told: [...starts, results.length][heard % (starts.length + 1)] ?? 0,
    };
  });
const budgets = fc.nat({ max: 8_000 });

/** The parts that must always be sent: the request, the results of the last turn and later messages. */
function kept({ request, exchanges, followUps, told }: ToldConversation) {
  const unheard = followUps.filter(({ after }) => after > told).map(({ message: said }) => said);
  return { request, exchanges: exchanges.slice(told), unheard };
}

const isSubsequence = (part: readonly string[], whole: readonly string[]): boolean => {
  let at = 0;
  for (const one of whole) if (part[at] === one) at += 1;
  return at === part.length;
};
const ids = ({ history, exchanges, followUps }: ToldConversation) => [
  ...history.map(({ messageId }) => messageId),
  ...exchanges.map(({ call }) => call.id),
  ...followUps.map(({ message: { messageId } }) => messageId),
];

describe('a conversation cut to a budget', () => {
  const every = (
    check: (whole: ToldConversation, fitted: ToldConversation, budget: number) => void,
  ) =>
    fc.assert(
      fc.property(conversations, budgets, (whole, budget) => {
        const outcome = fitConversation(whole, budget);
        if (outcome.kind === 'fits') check(whole, outcome.conversation, budget);
        else expect(outcome.tokens).toBeGreaterThan(budget);
      }),
      { numRuns: runs(500) },
    );

  it('is never over the budget, and stays unchanged when it fits', () => {
    every((whole, fitted, budget) => {
      expect(tokensOf(fitted)).toBeLessThanOrEqual(budget);
      if (tokensOf(whole) <= budget) expect(fitted).toBe(whole);
    });
  });

  it('keeps the request, the last turn and later messages whole', () => {
    every((whole, fitted) =>
      expect(kept(fitted)).toMatchObject(JSON.parse(JSON.stringify(kept(whole)))),
    );
  });

  it('keeps the order, the newest messages of each kind, and each result with its call', () => {
    every((whole, fitted) => {
      expect(isSubsequence(ids(fitted), ids(whole))).toBe(true);
      expect(fitted.history).toEqual(
        whole.history.slice(whole.history.length - fitted.history.length),
      );
      const own = new Map(whole.exchanges.map((one) => [one.call.id, one]));
      for (const one of fitted.exchanges) {
        const before = own.get(one.call.id) as Exchange;
        expect([before.result, leftOutResult(before)]).toContain(one.result);
      }
    });
  });

  it('keeps a message after the call that it followed', () => {
    every((whole, fitted) => {
      const dropped = whole.exchanges.length - fitted.exchanges.length;
      const place = new Map(
        whole.followUps.map(({ message: { messageId }, after }) => [messageId, after]),
      );
      for (const {
        message: { messageId },
        after,
      } of fitted.followUps) {
        expect(after).toBe((place.get(messageId) as number) - dropped);
        expect(after).toBeGreaterThan(0);
      }
    });
  });

  it('does not begin with an answer to a dropped message', () => {
    every((whole, fitted) => {
      if (fitted.history.length < whole.history.length)
        expect(fitted.history[0]?.role).not.toBe('agent');
    });
  });

  it('is not shortened further when it is cut again', () => {
    every((_, fitted, budget) => {
      expect(fitConversation(fitted, budget)).toMatchObject({ conversation: fitted });
    });
  });

  it('drops results before messages, and messages before calls', () => {
    every((whole, fitted) => {
      if (fitted.history.length < whole.history.length) {
        const heard = fitted.exchanges.slice(0, fitted.told);
        for (const one of heard) expect(one.result.length).toBeLessThan(60);
      }
      if (fitted.exchanges.length < whole.exchanges.length) expect(fitted.history).toEqual([]);
    });
  });
});

describe('a conversation that cannot be cut to the budget', () => {
  it('is too long when the request or the last results alone exceed it', () => {
    const long: ToldConversation = {
      history: [message('h', 'user', 4_000)],
      request: message('request', 'user', 400),
      exchanges: [exchange('call-1', 4_000), exchange('call-2', 4_000)],
      said: [],
      followUps: [],
      told: 1,
    };
    const least = tokensOf({ ...long, history: [], exchanges: long.exchanges.slice(1), told: 0 });
    expect(fitConversation(long, least - 1)).toEqual({ kind: 'tooLong', tokens: least });
    expect(fitConversation(long, least)).toMatchObject({ kind: 'fits', tokens: least });
  });
});

describe('a token estimate', () => {
  it.each([
    ['', 0],
    ['four', 1],
    ['fives', 2],
    ['退款', 2],
  ])('of %j is %d tokens: a quarter of its bytes', (text, tokens) => {
    expect(textTokens(text)).toBe(tokens);
  });

  it('of a picture does not count its base64 as text', () => {
    const bytes = 'A'.repeat(64_000);
    const file = { kind: 'file', file: { mimeType: 'image/png', bytes } } as const;
    expect(messageTokens({ role: 'user', messageId: 'm', parts: [file] })).toBe(8 + 1_600 + 1_000);
  });
});
