import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNewer } from '../../src/machines/newer-version.ts';

/** The order of semver.org, with more of it. */
const inOrder = [
  '0.0.0-0',
  '0.9.12',
  '1.0.0-1',
  '1.0.0-9',
  '1.0.0-10',
  '1.0.0-19',
  '1.0.0-100',
  '1.0.0-1a',
  '1.0.0-a1',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.1',
  '1.0.10',
  '1.2.0',
  '1.10.0',
  '2.0.0',
  '10.0.0',
];

describe('isNewer', () => {
  it('follows the order of semver', () => {
    const order = inOrder.map((one, at) =>
      inOrder.map((other, against) => [one, other, isNewer(one, other), at > against]),
    );
    for (const [one, other, said, expected] of order.flat()) {
      expect([one, other, said]).toEqual([one, other, expected]);
    }
  });

  it('accepts a leading v and ignores the part after +', () => {
    expect(isNewer('v1.2.1', '1.2.0')).toBe(true);
    expect(isNewer('1.2.0+build.7', 'v1.2.0+build.1')).toBe(false);
  });

  it('reads a version of at most 64 characters', () => {
    const longest = `9.9.9-${'a'.repeat(58)}`;
    expect([longest.length, isNewer(longest, '1.0.0')]).toEqual([64, true]);
    expect(isNewer(`${longest}a`, '1.0.0')).toBe(false);
  });

  it('accepts no other string as a version', () => {
    const none = [
      '',
      '1',
      '1.2',
      '1.2.3.4',
      '01.2.3',
      '1.2.x',
      ' 9.9.9',
      '9.9.9\n',
      '9.9.9-',
      'latest',
    ];
    for (const text of [...none, `9.9.9-${'a'.repeat(64)}`, '9999999999.0.0']) {
      expect([text, isNewer(text, '1.0.0'), isNewer('1.0.0', text)]).toEqual([text, false, false]);
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        if (isNewer(text, '0.0.0-0')) expect(text).toMatch(/^[\w.+-]{5,64}$/);
      }),
    );
  });
});
