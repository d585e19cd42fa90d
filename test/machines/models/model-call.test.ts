import { describe, expect, it } from 'vitest';
import { cooldownOf } from '../../../src/machines/models/model-call.ts';

describe('the pause of a model', () => {
  it('doubles from a second to a minute with each consecutive failure', () => {
    const rests = [1, 2, 3, 6, 7, 50].map((failures) => cooldownOf(failures, null));
    expect(rests).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000]);
  });

  it('is the pause that the model requested, up to ten minutes', () => {
    expect([30_000, 0, -5, 3_600_000].map((asked) => cooldownOf(9, asked))).toEqual([
      30_000, 0, 0, 600_000,
    ]);
  });
});
