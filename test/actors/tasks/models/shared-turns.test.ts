import type { TextStreamPart, ToolSet } from 'ai';
import { expect, it } from 'vitest';
import { readTurn } from '../../../../src/actors/tasks/models/read-turn.ts';
import { SharedTurns } from '../../../../src/actors/tasks/models/shared-turns.ts';
import { wireTools } from '../../../../src/actors/tasks/models/wire-tools.ts';

it('the limit of turns runs at most so many in one turn of the event loop, in order', async () => {
  const turns = new SharedTurns(2);
  const order: string[] = [];
  setImmediate(() => order.push('other'));
  const all = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh'].map(
    async (name) => {
      await turns.next();
      order.push(name);
      if (name === 'third') setImmediate(() => order.push('another'));
    },
  );
  await Promise.all(all);
  expect(order).toEqual(
    ['first', 'second', 'other', 'third', 'fourth'].concat(
      ...['fifth', 'sixth', 'another', 'seventh'],
    ),
  );
});

it('the limit of turns does not delay a later turn', async () => {
  const turns = new SharedTurns(1);
  expect(turns.next()).toBeNull();
  await new Promise((later) => setImmediate(later));
  expect(turns.next()).toBeNull();
});

it('buffered answers are read without blocking the rest of the agent', async () => {
  const turns = new SharedTurns(8);
  let read = 0;
  let most = 0;
  let isOver = false;
  const watch = (before: number): void => {
    most = Math.max(most, read - before);
    if (!isOver) setImmediate(watch, read);
  };
  watch(0);
  const subject = {
    provider: 'ollama',
    model: 'm',
    address: 'http://127.0.0.1:1',
    keyVariable: null,
  } as const;
  const answers = Array.from({ length: 50 }, () =>
    readTurn(flood(), { subject, names: wireTools([]), turns, onToken: () => void (read += 1) }),
  );
  const texts = (await Promise.all(answers)).map(({ text }) => text.length);
  isOver = true;
  expect(texts).toEqual(Array.from({ length: 50 }, () => 100));
  expect(read).toBe(5_000);
  expect(most).toBeLessThanOrEqual(16);
});

async function* flood(): AsyncGenerator<TextStreamPart<ToolSet>> {
  for (let index = 0; index < 100; index += 1) yield { type: 'text-delta', id: '1', text: 'x' };
  const totalUsage = { inputTokens: 1, outputTokens: 100 };
  yield {
    type: 'finish',
    finishReason: 'stop',
    rawFinishReason: 'stop',
    totalUsage,
  } as TextStreamPart<ToolSet>;
}
