import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/machines/domain/task.ts';
import {
  boundHistory,
  historyBound,
  messageSize,
} from '../../../src/machines/task/bound-history.ts';
import { runs } from '../../helpers/runs.ts';

function aMessage(index: number, text: string): Message {
  const role = index % 2 === 0 ? 'user' : 'agent';
  return { role, parts: [{ kind: 'text', text }], messageId: `m-${index}` };
}

const bytesOf = (messages: Message[]): number =>
  messages.reduce((bytes, message) => bytes + Buffer.byteLength(JSON.stringify(message)), 0);

/** Sizes around the bounds, in every script. */
const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('x', 'é', '€', '💶', '\ud800', '\n'),
        fc.integer({ min: 1, max: 400_000 }),
      )
      .map(([unit, times]) => unit.repeat(times)),
  },
);
const history = fc
  .array(text, { maxLength: 260, size: 'max' })
  .map((texts) => texts.map((said, index) => aMessage(index, said)));

describe('the history of a task', () => {
  it('is the longest end of the conversation within 1 MiB and 200 messages', () => {
    fc.assert(
      fc.property(
        history,
        fc.nat(1_000),
        fc.integer({ min: 1, max: 2 }),
        (said, before, present) => {
          const { messages, leftOut } = boundHistory(said, before, present);
          expect(messages).toEqual(said.slice(said.length - messages.length));
          expect(leftOut).toBe(before + said.length - messages.length);
          const isWithin = (kept: Message[]): boolean =>
            kept.length <= historyBound.messages && bytesOf(kept) <= historyBound.bytes;
          expect(messages.length <= present || isWithin(messages)).toBe(true);
          expect(messages.length).toBeGreaterThanOrEqual(Math.min(present, said.length));
          const longer = said.slice(said.length - messages.length - 1);
          expect(messages.length === said.length || !isWithin(longer)).toBe(true);
          expect(boundHistory(messages, leftOut, present)).toEqual({ messages, leftOut });
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it('keeps all messages of the current run', () => {
    const large = aMessage(1, 'x'.repeat(historyBound.bytes + 1));
    const [small, answer] = [aMessage(0, 'x'), aMessage(2, 'x')];
    expect(boundHistory([small, large], 3, 1)).toEqual({ messages: [large], leftOut: 4 });
    const run = [large, answer];
    expect(boundHistory([small, ...run], 0, 2)).toEqual({ messages: run, leftOut: 1 });
    expect(boundHistory([small, ...run], 0, 1)).toEqual({ messages: [answer], leftOut: 2 });
    expect(boundHistory([large], 0, 1)).toEqual({ messages: [large], leftOut: 0 });
    expect(boundHistory([], 0, 1)).toEqual({ messages: [], leftOut: 0 });
  });

  it('is bounded to the exact byte and message', () => {
    const empty = bytesOf([aMessage(0, '')]);
    const half = aMessage(0, 'x'.repeat(historyBound.bytes / 2 - empty));
    const over = aMessage(0, 'x'.repeat(historyBound.bytes / 2 - empty + 1));
    expect(boundHistory([half, half], 0, 1).messages).toHaveLength(2);
    expect(boundHistory([over, half], 0, 1)).toEqual({ messages: [half], leftOut: 1 });
    const many = Array.from({ length: 201 }, (_, index) => aMessage(index, ''));
    expect(boundHistory(many.slice(1), 0, 1).leftOut).toBe(0);
    expect(boundHistory(many, 0, 1)).toEqual({ messages: many.slice(1), leftOut: 1 });
  });

  it('contains only the newest messages, also where all are of the current run', () => {
    const many = Array.from({ length: 202 }, (_, index) => aMessage(index, ''));
    const kept = { messages: many.slice(2), leftOut: 5 };
    expect(boundHistory(many, 3, 201)).toEqual(kept);
    expect(boundHistory(many, 3, 202)).toEqual(kept);
  });

  it('is a copy of the list that it received', () => {
    const said = [aMessage(0, '')];
    const { messages } = boundHistory(said, 0, 1);
    said.push(aMessage(1, ''));
    expect(messages).toHaveLength(1);
  });
});

describe('a message', () => {
  it('is as large as its JSON, and is measured once', () => {
    let measured = 0;
    const message = {
      ...aMessage(0, 'é'),
      toJSON: () => {
        measured += 1;
        return 'é';
      },
    };
    expect([messageSize(message), messageSize(message), measured]).toEqual([4, 4, 1]);
    expect(messageSize(aMessage(0, 'é'))).toBe(bytesOf([aMessage(0, 'é')]));
  });
});
