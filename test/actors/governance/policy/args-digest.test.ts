import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { argsDigest } from '../../../../src/actors/governance/policy/args-digest.ts';

const sha256 = (text: string) => hash('sha256', text, 'hex');

describe('args_sha256 of a call', () => {
  it('is the SHA-256 of the canonical form of its tool and arguments, in lower-case hex', () => {
    expect(argsDigest('pay', {})).toBe(sha256('{"args":{},"tool":"pay"}'));
    expect(argsDigest('käse "1"', { b: [1, { d: 'ä', c: null }], a: 1.0 })).toBe(
      sha256('{"args":{"a":1,"b":[1,{"c":null,"d":"ä"}]},"tool":"käse \\"1\\""}'),
    );
  });

  it('differs when any part differs', () => {
    const args = [{ a: 1 }, { a: '1' }, { a: [1] }, { a: 1, b: null }, {}];
    const digests = args.flatMap((each) => [argsDigest('pay', each), argsDigest('refund', each)]);
    expect(new Set(digests).size).toBe(10);
  });
});
