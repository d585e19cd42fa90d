import { expect, it } from 'vitest';
import { countUsage } from '../../../src/machines/task/count-usage.ts';
import { said } from '../../helpers/task-fixtures.ts';

const before = { model: 'older', inputTokens: 10, outputTokens: 20, duration: 30 };

it.each([
  ['its first turn', undefined, {}, [3, 5, 12]],
  ['a further turn', before, {}, [13, 25, 42]],
  ['an uncounted turn', before, { inputTokens: 0, outputTokens: 0 }, [10, 20, 42]],
  ['a negative count', before, { inputTokens: -4, outputTokens: -1 }, [10, 20, 42]],
  ['no count', before, { inputTokens: Number.NaN, outputTokens: Infinity }, [10, 20, 42]],
  ['no count at first', undefined, { inputTokens: -Infinity, outputTokens: NaN }, [0, 0, 12]],
])('adds %s to the usage of the run, and names the last model', (_, earlier, more, sums) => {
  const [inputTokens, outputTokens, duration] = sums;
  expect(countUsage(earlier, { ...said(''), ...more })).toStrictEqual({
    model: 'demo',
    inputTokens,
    outputTokens,
    duration,
  });
});
