import { expect, it } from 'vitest';
import { InOrder } from '../../src/actors/in-order.ts';

it('tasks with one key run one after the other, also after failures, and tasks with two keys at once', async () => {
  const order = new InOrder();
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const run = (thing: string, name: string) =>
    order.run(thing, () => {
      begun.push(name);
      const end = Promise.withResolvers<string>();
      ends.set(name, end);
      return end.promise;
    });
  const one = run('a', 'one').catch((error: unknown) => String(error));
  const two = run('a', 'two');
  const other = run('b', 'other');
  const first = [...begun];
  ends.get('one')?.reject(new Error('no'));
  expect(await one).toBe('Error: no');
  await Promise.resolve();
  await Promise.resolve();
  ends.get('other')?.resolve('other');
  ends.get('two')?.resolve('two');
  expect([first, begun, await two, await other]).toEqual([
    ['one', 'other'],
    ['one', 'other', 'two'],
    'two',
    'other',
  ]);
});

it('a queue ends, and keeps no memory, after its last task', async () => {
  const order = new InOrder();
  const end = Promise.withResolvers<void>();
  void order.run('a', () => end.promise);
  void order.run('a', () => Promise.reject(new Error('no'))).catch(() => undefined);
  const isBusy = [order.isBusy('a'), order.isBusy('b')];
  let isOver = false;
  const over = order.over().then(() => {
    isOver = true;
  });
  await Promise.resolve();
  const before = isOver;
  end.resolve();
  await over;
  expect([isBusy, before, order.isBusy('a')]).toEqual([[true, false], false, false]);
});
