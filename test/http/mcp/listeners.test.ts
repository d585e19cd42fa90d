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

it('one stream exists for each session, and at most a hundred for each caller', () => {
  const listeners = new Listeners();
  let offered = 'before';
  const tools = () => offered;
  const [first, second, elsewhere] = [stream(), stream(), stream()];
  listeners.add('other', { share: 'bob', stream: elsewhere, tools });
  const leave = listeners.add('s0', { share: 'ann', stream: first, tools });
  listeners.add('s0', { share: 'ann', stream: second, tools });
  // The end of the earlier stream leaves the later one alone.
  leave();
  const later = Array.from({ length: 100 }, (_, n) => {
    const one = stream();
    listeners.add(`s${n + 1}`, { share: 'ann', stream: one, tools });
    return one;
  });
  offered = 'after';
  listeners.toolsChanged();
  const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
  expect([first, second, elsewhere, ...later].map(({ seen }) => seen)).toEqual([
    ['end'],
    ['end'],
    [changed],
    ...later.map(() => [changed]),
  ]);
});

it('only clients whose tools have changed are notified, once for each change', () => {
  const listeners = new Listeners();
  const [support, finance] = [stream(), stream()];
  let offered = 'before';
  listeners.add('s1', { share: 'ann', stream: support, tools: () => 'same' });
  listeners.add('s2', { share: 'bob', stream: finance, tools: () => offered });
  offered = 'after';
  listeners.toolsChanged();
  listeners.toolsChanged();
  expect([support.seen, finance.seen]).toEqual([
    [],
    [{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }],
  ]);
});
