import { expect, it } from 'vitest';
import { atMost } from '../../../src/dashboard/routes/at-most.ts';
import { Problem } from '../../../src/http/wire/problem.ts';

it('requests above the limit are refused, and accepted after others ended, well or not', async () => {
  const run = atMost(2, { code: 'too_many_at_once', error: 'two run; end one of them first' });
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const running = [run(() => first.promise), run(() => second.promise)];
  const refused = await run(() => Promise.resolve('third')).catch((error: unknown) => error);
  expect(refused).toEqual(
    new Problem('too_many_at_once', 'two run; end one of them first', {}, { 'Retry-After': '5' }),
  );
  first.resolve('first');
  second.reject(new Error('second'));
  expect(await Promise.allSettled(running)).toEqual([
    { status: 'fulfilled', value: 'first' },
    { status: 'rejected', reason: new Error('second') },
  ]);
  expect(await Promise.all([run(async () => 'fourth'), run(async () => 'fifth')])).toEqual([
    ...['fourth', 'fifth'],
  ]);
});
