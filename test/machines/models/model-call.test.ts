import { describe, expect, it } from 'vitest';
import { cooldownOf } from '../../../src/machines/models/model-call.ts';

describe('how long a model is left alone', () => {
  it('doubles from a second to a minute with each failure in a row', () => {
    const rests = [1, 2, 3, 6, 7, 50].map((failures) => cooldownOf(failures, null));
    expect(rests).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000]);
  });

  it('is what the model asked for, up to ten minutes', () => {
    expect([30_000, 0, -5, 3_600_000].map((asked) => cooldownOf(9, asked))).toEqual([
      30_000, 0, 0, 600_000,
    ]);
  });
});
