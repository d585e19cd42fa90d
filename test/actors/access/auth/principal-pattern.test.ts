import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchesPrincipal } from '../../../../src/actors/access/auth/sigv4-verifier.ts';

it.each<[string, string, boolean]>([
  ['arn:aws:iam::1:user/ann', 'arn:aws:iam::1:user/ann', true],
  ['arn:aws:iam::1:user/ann', 'arn:aws:iam::1:user/*', true],
  ['arn:aws:iam::1:user/ann', 'arn:aws:iam::*:user/ann', true],
  ['arn:aws:iam::1:user/ops/ann', 'arn:aws:iam::1:user/*n', true],
  ['arn:aws:iam::1:user/ann', 'arn:aws:iam::1:*a*n*', true],
  ['arn:aws:iam::1:user/ann', 'arn:aws:iam::1:user/ann*', true],
  ['arn:aws:iam::1:user/anna', 'arn:aws:iam::1:user/ann', false],
  ['arn:aws:iam::1:user/ann', 'arn:aws:iam::1:user/*anna', false],
  ['arn:aws:iam::1:user/aba', 'arn:aws:iam::1:user/ab*ba', false],
  ['arn:aws:iam::1:user/Ann', 'arn:aws:iam::1:user/ann', false],
  ['arn:aws:iam::2:user/x/:role/admin', 'arn:aws:iam::*:role/admin', false],
  ['arn:aws:iam::2:role/admin', 'arn:aws:iam:*:role/admin', false],
  ['arn:aws:iam::2:user/a.c', 'arn:aws:iam::2:user/a?c', false],
  ['arn:aws:iam::2:user/abc', 'arn:aws:iam::2:user/a.c', false],
  ['', '*', true],
  ['a:b', '*', false],
])('the principal pattern %s and %s', (arn, pattern, fits) => {
  expect(matchesPrincipal(arn, pattern)).toBe(fits);
});

it('the pattern matcher agrees with an exhaustive one', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 8 });
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '*'), maxLength: 6 });
  fc.assert(
    fc.property(text, pattern, (name, glob) => {
      const slow = new RegExp(`^${glob.replaceAll('*', '.*')}$`);
      expect(matchesPrincipal(name, glob)).toBe(slow.test(name));
    }),
    { numRuns: 2_000 },
  );
});
