import { expect, it } from 'vitest';
import { Listeners } from '../../../src/http/mcp/listeners.ts';

function stream() {
  const seen: unknown[] = [];
  return {
    seen,
    send: ({ data }: { data: object }) => void seen.push(data),
    end: () => void seen.push('end'),
  };
}

it('has one stream for each session, and a hundred for each caller', () => {
  const listeners = new Listeners();
  const [first, second, elsewhere] = [stream(), stream(), stream()];
  listeners.add('other', { share: 'bob', stream: elsewhere });
  const leave = listeners.add('s0', { share: 'ann', stream: first });
  listeners.add('s0', { share: 'ann', stream: second });
  // The end of the earlier stream leaves the later one alone.
  leave();
  const later = Array.from({ length: 100 }, (_, n) => {
    const one = stream();
    listeners.add(`s${n + 1}`, { share: 'ann', stream: one });
    return one;
  });
  listeners.notify('changed');
  const changed = { jsonrpc: '2.0', method: 'changed' };
  expect([first, second, elsewhere, ...later].map(({ seen }) => seen)).toEqual([
    ['end'],
    ['end'],
    [changed],
    ...later.map(() => [changed]),
  ]);
});
