import { expect, it } from 'vitest';
import { Turns } from '../../../src/actors/tasks/turns.ts';

it('a turn waits for at most one other turn', async () => {
  const turns = new Turns();
  const order: string[] = [];
  const lists = ['first', 'second', 'third', 'fourth'].map(async (name) => {
    await turns.next();
    order.push(name);
    if (name === 'first') setImmediate(() => order.push('other'));
  });
  await Promise.all(lists);
  expect(order).toEqual(['first', 'other', 'second', 'third', 'fourth']);
});
