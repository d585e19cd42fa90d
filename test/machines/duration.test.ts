import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, maximumDuration, parseDuration } from '../../src/machines/duration.ts';

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['1.1h', 3_960_000],
    ['.5s', 500],
    ['.25s', 250],
    ['1.s', 1_000],
    ['5m0s', 300_000],
    ['30m1h', 5_400_000],
    ['7d', 604_800_000],
    ['24d', maximumDuration],
    ['576h', 2_073_600_000],
  ])('reads %s as %d milliseconds', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each([
    ['', 'a duration must not be empty; write 90s, 5m or 1h30m'],
    ['  ', 'a duration must not be empty; write 90s, 5m or 1h30m'],
    ['5', 'a duration needs a unit; write 5s, 5m or 5h'],
    ['1.5', 'a duration needs a unit; write 5s, 5m or 5h'],
    ['-5m', 'a duration must not be negative; write 90s, 5m or 1h30m'],
    ['1e9h', 'this is not a duration; write 90s, 5m or 1h30m'],
    ['5 m', 'this is not a duration; write 90s, 5m or 1h30m'],
    ['5min', 'this is not a duration; write 90s, 5m or 1h30m'],
    ['5m3', 'this is not a duration; write 90s, 5m or 1h30m'],
    ['.s', 'this is not a duration; write 90s, 5m or 1h30m'],
    ['Infinityh', 'this is not a duration; write 90s, 5m or 1h30m'],
    ['5M', 'this is not a duration; write 90s, 5m or 1h30m'],
    ['24d1ms', 'a duration must be at most 24 days (576h)'],
    [`${'9'.repeat(400)}h`, 'a duration must be at most 24 days (576h)'],
  ])('refuses %j', (text, message) => {
    expect(() => parseDuration(text)).toThrow(new RangeError(message));
  });

  it('reads back each printed value', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: maximumDuration }), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
      }),
    );
  });

  it('returns a number within bounds or a RangeError for any string', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[-.0-9dhms]{0,12}$/));
    fc.assert(
      fc.property(text, (input) => {
        try {
          const milliseconds = parseDuration(input);
          expect(milliseconds).toBeGreaterThanOrEqual(0);
          expect(milliseconds).toBeLessThanOrEqual(maximumDuration);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [1, '1ms'],
    [250, '250ms'],
    [1_000, '1s'],
    [1_500, '1.5s'],
    [1_001, '1.001s'],
    [59_999, '59.999s'],
    [60_000, '1m0s'],
    [60_250, '1m0.25s'],
    [90_000, '1m30s'],
    [300_000, '5m0s'],
    [3_600_000, '1h0m0s'],
    [5_400_000, '1h30m0s'],
    [604_800_000, '168h0m0s'],
  ])('prints %d as %s', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });
});
