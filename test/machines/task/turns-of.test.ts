import { expect, it } from 'vitest';
import type { Exchange, SaidTurn } from '../../../src/machines/domain/task.ts';
import { turnsOf } from '../../../src/machines/task/turns-of.ts';
import { aCall } from '../../helpers/task-fixtures.ts';

const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ call: aCall({ id }), result: id })) as [
  Exchange,
  Exchange,
  Exchange,
];
const after = (exchanges: number): SaidTurn => ({
  after: exchanges,
  by: { provider: 'scripted', model: 'demo' },
  parts: [{ kind: 'text', text: `after ${exchanges}` }],
});

it.each([
  ['none before the first answer', [], [], []],
  ['none while its calls have not ended', [], [after(0)], []],
  ['one with all its calls', [a, b], [after(0)], [{ said: after(0), exchanges: [a, b], until: 2 }]],
  [
    'each with its own calls',
    [a, b, c],
    [after(0), after(2)],
    [
      { said: after(0), exchanges: [a, b], until: 2 },
      { said: after(2), exchanges: [c], until: 3 },
    ],
  ],
  [
    'all but the last, whose calls have not ended',
    [a],
    [after(0), after(1)],
    [{ said: after(0), exchanges: [a], until: 1 }],
  ],
  [
    'one for each call, where no turn is stored',
    [a, b],
    [],
    [
      { said: null, exchanges: [a], until: 1 },
      { said: null, exchanges: [b], until: 2 },
    ],
  ],
  [
    'one for each call before the first stored turn',
    [a, b, c],
    [after(2)],
    [
      { said: null, exchanges: [a], until: 1 },
      { said: null, exchanges: [b], until: 2 },
      { said: after(2), exchanges: [c], until: 3 },
    ],
  ],
  [
    'the ended calls, where a turn has more',
    [a],
    [after(0), after(4)],
    [{ said: after(0), exchanges: [a], until: 1 }],
  ],
])('the turns of a run are: %s', (_, exchanges, said, turns) => {
  expect(turnsOf(exchanges, said)).toStrictEqual(turns);
});
