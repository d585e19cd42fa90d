import { expect, it } from 'vitest';
import { InOrder } from '../../src/actors/in-order.ts';

it('runs what concerns one thing one after the other, whatever fails, and two things at once', async () => {
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

it('is over, and remembers nothing, once all of it has run', async () => {
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
