import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cosine,
  findDrift,
  scoreIntent,
} from '../../../src/machines/governance/intent-alignment.ts';

/** Two vectors of one length. */
const pairOf = (component: fc.Arbitrary<number>) =>
  fc
    .array(fc.tuple(component, component), { minLength: 1, maxLength: 40 })
    .map((rows) => [rows.map(([one]) => one), rows.map(([, other]) => other)] as const);

const pair = pairOf(fc.double({ min: -1e6, max: 1e6, noNaN: true }));
const wholePair = pairOf(fc.integer({ min: -1_000_000, max: 1_000_000 }));

describe('cosine', () => {
  it.each([
    ['one for the same direction', [1, 2], [2, 4], 1],
    ['minus one for the opposite direction', [1, 0], [-3, 0], -1],
    ['zero for a right angle', [1, 0], [0, 5], 0],
    ['the quotient of product and lengths', [3, 4], [4, 3], 0.96],
    ['right where a square would overflow', [1e200, 0], [1e200, 1e200], Math.SQRT1_2],
    ['right where a square would underflow', [1e-200, 0], [1e-200, 1e-200], Math.SQRT1_2],
  ])('is %s', (_, one, other, expected) => {
    expect(cosine(one, other)).toBeCloseTo(expected, 12);
  });

  it.each([
    ['where the second is shorter', [1, 2], [1]],
    ['where the first is shorter', [1], [1, 2]],
    ['without components', [], []],
    ['where the first is zero', [0, 0], [1, 1]],
    ['where the second is zero', [1, 1], [0, -0]],
    ['with a NaN', [1, Number.NaN], [1, 1]],
    ['with an infinity', [1, 1], [Number.POSITIVE_INFINITY, 1]],
    ['with several faults', [Number.NaN], [Number.NEGATIVE_INFINITY, 0]],
  ])('is null for vectors %s', (_, one, other) => {
    expect(cosine(one, other)).toBeNull();
  });

  it('is between -1 and 1, or null for a zero vector', () => {
    fc.assert(
      fc.property(pair, ([one, other]) => {
        const score = cosine(one, other);
        const isZero = [one, other].some((vector) => vector.every((number) => number === 0));
        expect(score === null).toBe(isZero);
        expect(Math.abs(score ?? 0)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('is symmetric', () => {
    fc.assert(
      fc.property(pair, ([one, other]) => {
        expect(cosine(one, other)).toBe(cosine(other, one));
      }),
    );
  });

  it('does not depend on the length of a vector, and changes its sign with the vector', () => {
    fc.assert(
      fc.property(wholePair, fc.double({ min: 1e-3, max: 1e3, noNaN: true }), (vectors, factor) => {
        const [one, other] = vectors;
        const score = cosine(one, other);
        fc.pre(score !== null);
        const longer = one.map((number) => number * factor);
        const turned = one.map((number) => -number * factor);
        expect(Math.abs(cosine(longer, one) ?? Number.NaN)).toBeLessThanOrEqual(1);
        expect(cosine(longer, other)).toBeCloseTo(score ?? Number.NaN, 9);
        expect(cosine(turned, other)).toBeCloseTo(-(score ?? Number.NaN), 9);
      }),
    );
  });

  it('is one for a vector and itself', () => {
    fc.assert(
      fc.property(pair, ([one]) => {
        fc.pre(one.some((number) => number !== 0));
        expect(cosine(one, one)).toBeCloseTo(1, 12);
      }),
    );
  });
});

describe('scoreIntent', () => {
  const usual = { threshold: 0.5, hardThreshold: 0.3 };
  const zero = { threshold: 0, hardThreshold: 0 };
  const warnOnly = { threshold: 0.5, hardThreshold: -1 };
  it.each([
    [0.21, usual, 'deny', 'score 0.21 is below the hard threshold 0.30'],
    [0.2999, usual, 'deny', 'score 0.2999 is below the hard threshold 0.30'],
    [0.3, usual, 'warn', 'score 0.30 is below the threshold 0.50'],
    [0.42, usual, 'warn', 'score 0.42 is below the threshold 0.50'],
    [0.499999, usual, 'warn', 'score 0.49999900 is below the threshold 0.50'],
    [0.5, usual, 'allow', 'score 0.50 meets the threshold 0.50'],
    [0.83, usual, 'allow', 'score 0.83 meets the threshold 0.50'],
    [1, usual, 'allow', 'score 1.00 meets the threshold 0.50'],
    [-0.01, zero, 'deny', 'score -0.01 is below the hard threshold 0.00'],
    [0, zero, 'allow', 'score 0.00 meets the threshold 0.00'],
    [0.1, zero, 'allow', 'score 0.10 meets the threshold 0.00'],
    [0, { threshold: 0.5, hardThreshold: 0 }, 'warn', 'score 0.00 is below the threshold 0.50'],
    [-1, warnOnly, 'warn', 'score -1.00 is below the threshold 0.50'],
    [0.2, warnOnly, 'warn', 'score 0.20 is below the threshold 0.50'],
    [0.5, warnOnly, 'allow', 'score 0.50 meets the threshold 0.50'],
    [-1, { threshold: -1, hardThreshold: -1 }, 'allow', 'score -1.00 meets the threshold -1.00'],
    [
      0.4,
      { threshold: 0.2, hardThreshold: 0.6 },
      'deny',
      'score 0.40 is below the hard threshold 0.60',
    ],
    [
      0.4549,
      { threshold: 0.455, hardThreshold: 0 },
      'warn',
      'score 0.45 is below the threshold 0.455',
    ],
    [Number.NaN, usual, 'deny', 'score NaN is below the hard threshold 0.30'],
    [Number.NaN, warnOnly, 'deny', 'score NaN is below the hard threshold -1.00'],
    [
      0.9,
      { threshold: 0.5, hardThreshold: Number.NaN },
      'deny',
      'score 0.90 is below the hard threshold NaN',
    ],
  ])('of %d under %j returns %s', (score, thresholds, decision, reason) => {
    expect(scoreIntent(score, thresholds)).toEqual({ decision, reason });
  });

  it('denies no cosine under a hard threshold of -1', () => {
    const score = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(score, score, (value, threshold) => {
        const expected = value >= threshold ? 'allow' : 'warn';
        expect(scoreIntent(value, { threshold, hardThreshold: -1 }).decision).toBe(expected);
      }),
    );
  });

  it('never rates a lower score higher', () => {
    const score = fc.double({ min: -1, max: 1, noNaN: true });
    const order = ['deny', 'warn', 'allow'];
    fc.assert(
      fc.property(score, score, score, score, (one, other, threshold, hardThreshold) => {
        const rank = (value: number) =>
          order.indexOf(scoreIntent(value, { threshold, hardThreshold }).decision);
        expect(rank(Math.min(one, other))).toBeLessThanOrEqual(rank(Math.max(one, other)));
      }),
    );
  });
});

describe('findDrift', () => {
  const rule = { window: 4, driftThreshold: 0.35, monotoneN: 3 };
  it.each([
    ['no scores', [], rule, null],
    ['low scores before the window is full', [0.1, 0.1, 0.2], rule, null],
    [
      'a low mean of a full window',
      [0.9, 0.3, 0.2, 0.4, 0.3],
      rule,
      'the mean of the last 4 scores is 0.30, below the drift threshold 0.35',
    ],
    [
      'a mean that meets the threshold',
      [0.25, 0.5, 0.25, 0.5],
      { ...rule, driftThreshold: 0.375 },
      null,
    ],
    ['low scores outside the window', [0.1, 0.1, 0.9, 0.9, 0.9, 0.9], rule, null],
    ['scores that fall', [0.5, 0.9, 0.8, 0.7], rule, 'the last 3 scores fell: 0.90, 0.80, 0.70'],
    [
      'scores that fall before the window is full',
      [0.9, 0.8, 0.7],
      rule,
      'the last 3 scores fell: 0.90, 0.80, 0.70',
    ],
    ['scores that fell and rose', [0.9, 0.8, 0.7, 0.75], rule, null],
    ['equal scores', [0.8, 0.7, 0.7, 0.6], rule, null],
    ['too few falling scores', [0.9, 0.8], rule, null],
    ['a mean above an explicit zero', [0.1, 0.1, 0.1, 0.1], { ...rule, driftThreshold: 0 }, null],
    [
      'a mean below an explicit zero',
      [-0.2, -0.2, -0.2, -0.2],
      { ...rule, driftThreshold: 0 },
      'the mean of the last 4 scores is -0.20, below the drift threshold 0.00',
    ],
  ])('given %s', (_, scores, drift, reason) => {
    expect(findDrift(scores, drift)).toEqual(reason === null ? null : { reason });
  });
});
