import { expect, it } from 'vitest';
import { countUsage } from '../../../src/machines/task/count-usage.ts';
import { said } from '../../helpers/task-fixtures.ts';

const before = { model: 'older', inputTokens: 10, outputTokens: 20, duration: 30 };

it.each([
  ['its first turn', undefined, {}, [3, 5, 12]],
  ['a further turn', before, {}, [13, 25, 42]],
  ['a turn that nobody counted', before, { inputTokens: 0, outputTokens: 0 }, [10, 20, 42]],
  ['less than nothing', before, { inputTokens: -4, outputTokens: -1 }, [10, 20, 42]],
  ['no count', before, { inputTokens: Number.NaN, outputTokens: Infinity }, [10, 20, 42]],
  ['no count at first', undefined, { inputTokens: -Infinity, outputTokens: NaN }, [0, 0, 12]],
])('adds %s to what the models of a run took, and names the last', (_, earlier, more, sums) => {
  const [inputTokens, outputTokens, duration] = sums;
  expect(countUsage(earlier, { ...said(''), ...more })).toStrictEqual({
    model: 'demo',
    inputTokens,
    outputTokens,
    duration,
  });
});
