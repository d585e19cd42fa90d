import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { isCanonicalText } from '../../../../src/actors/records/log/canonical-text.ts';

const name = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('__proto__', 'toJSON', '1', '9', '10', 'a', 'b', '\ufb33', '\u{1f600}', '\\ud'),
);
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, -0, 1e21, 1e-7, 0.1),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 5 }),
  ),
})).value;

describe('isCanonicalText', () => {
  it('agrees with the full canonicalization, for texts in any order', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        for (const text of [JSON.stringify(value), canonicalize(value) ?? '']) {
          const parsed = JSON.parse(text);
          expect(isCanonicalText(parsed, text)).toBe(canonicalize(parsed) === text);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('skips the canonicalization for a string that is canonical', () => {
    const text = '{"":[1,"ä",{"a":null,"b":true}],"x":{}}';
    const value = JSON.parse(text);
    const stringify = vi.spyOn(JSON, 'stringify');
    expect(isCanonicalText(value, text)).toBe(true);
    expect(stringify).toHaveBeenCalledOnce();
  });

  it.each([
    ['{"10":1,"9":1}', true],
    ['{"9":1,"10":1}', false],
    ['{"a":{"b":1,"a":1}}', false],
    ['["\\ud800"]', false],
    ['["\\\\ud800"]', true],
    [`${'['.repeat(20_000)}${']'.repeat(20_000)}`, true],
  ])('judges %.40s', (text, isCanonical) => {
    expect(isCanonicalText(JSON.parse(text), text)).toBe(isCanonical);
  });
});
