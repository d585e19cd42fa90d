import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spanText } from '../../../../src/ui/dashboard/chart/span-text.ts';

describe('spanText', () => {
  it.each([
    [0, '0 ms'],
    [0.38, '0.4 ms'],
    [28, '28 ms'],
    [999, '999 ms'],
    [1_000, '1 s'],
    [2_100, '2.1 s'],
    [59_960, '0:59'],
    [193_000, '3:13'],
    [7_500_000, '2 h 5 m'],
    [7_200_000, '2 h'],
    [273_600_000, '3 d 4 h'],
  ])('writes %d ms as %s', (milliseconds, text) => {
    expect(spanText(milliseconds)).toBe(text);
  });

  it('is never long and never negative', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e11, noNaN: true }), (milliseconds) => {
        expect(spanText(milliseconds)).toMatch(/^\d[\d.: a-z]{1,11}$/);
      }),
    );
  });
});
