import { expect, it } from 'vitest';
import { countSequence } from '../../../src/http/middleware/count-sequence.ts';

it('the events of each request are counted from 1', async () => {
  const count = countSequence();
  const requests = [{ state: {} as any }, { state: {} as any }];
  for (const request of requests) await count(request as any, async () => undefined);
  const [one, other] = requests.map(({ state }) => state.nextSequence as () => number);
  expect([one!(), one!(), other!(), one!(), other!()]).toEqual([1, 2, 1, 3, 2]);
});
