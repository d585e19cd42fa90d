import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson } from '../../../packages/client/canonical-json.ts';

/** Returns the canonical form; `null` for a value that is refused. */
function written(value: unknown): string | null {
  try {
    return canonicalJson(value, 'args');
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return null;
  }
}

it('the client writes plain JSON as the daemon does, or refuses it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = written(value);
      if (text !== null) expect(text).toBe(canonicalize(value));
    }),
  );
});

it('the client keeps numbers, names and characters that JSON writers often change', () => {
  const value = { b: [0, -0, 1e-7, 123.456e10, 2 ** 53 - 1], a: { '€': '😀', 10: null, 9: '\n' } };
  expect(written(value)).toBe(canonicalize(value));
});
