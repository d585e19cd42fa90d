import { describe, expect, it } from 'vitest';
import { argumentsDigest } from '../../../../src/actors/governance/policy/arguments-digest.ts';

describe('the digest of arguments', () => {
  it('is the SHA-256 of their canonical form, in lower-case hex', () => {
    expect(argumentsDigest({})).toBe(
      '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    );
    expect(argumentsDigest({ b: [1, { d: 'ä', c: null }], a: 1.0 })).toBe(
      argumentsDigest({ a: 1, b: [1, { c: null, d: 'ä' }] }),
    );
  });

  it('differs when anything differs', () => {
    const digests = [{ a: 1 }, { a: '1' }, { a: [1] }, { a: 1, b: null }, {}].map(argumentsDigest);
    expect(new Set(digests).size).toBe(5);
  });
});
