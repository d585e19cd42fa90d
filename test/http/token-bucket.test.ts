import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TokenBucket } from '../../src/http/token-bucket.ts';

it('a bucket gives its burst at once, and then the time to wait', () => {
  const bucket = new TokenBucket({ rate: 2, burst: 3 }, 0);
  expect([0, 0, 0, 0, 250, 500, 500].map((now) => bucket.take(now))).toEqual([
    0, 0, 0, 0.5, 0.25, 0, 0.5,
  ]);
});

it('a bucket contains at most its burst after any pause', () => {
  const bucket = new TokenBucket({ rate: 5, burst: 2 }, 0);
  expect([9e9, 9e9, 9e9].map((now) => bucket.take(now))).toEqual([0, 0, 0.2]);
});

it('a bucket gains nothing from a clock that goes back', () => {
  const bucket = new TokenBucket({ rate: 1, burst: 1 }, 10_000);
  expect([10_000, 0, 10_500].map((now) => bucket.take(now))).toEqual([0, 1, 0.5]);
});

it('a bucket never gives more than its burst and the refill', () => {
  const steps = fc.array(fc.nat({ max: 5_000 }), { minLength: 1, maxLength: 200 });
  const pace = fc.record({
    rate: fc.double({ min: 0.01, max: 100, noNaN: true }),
    burst: fc.integer({ min: 1, max: 50 }),
  });
  fc.assert(
    fc.property(pace, steps, ({ rate, burst }, waits) => {
      const bucket = new TokenBucket({ rate, burst }, 0);
      let now = 0;
      let given = 0;
      for (const wait of waits) {
        now += wait;
        const left = bucket.take(now);
        if (left === 0) given += 1;
        else expect(left).toBeGreaterThan(0);
        expect(given).toBeLessThanOrEqual(burst + (now / 1_000) * rate + 1e-6);
      }
    }),
  );
});
