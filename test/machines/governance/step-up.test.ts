import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWeaker, satisfiesAcr } from '../../../src/machines/governance/step-up.ts';
import { aCaller } from '../../helpers/task-fixtures.ts';

const levels = ['bronze', 'silver', 'gold'];

describe('satisfiesAcr', () => {
  it.each([
    ['gold', 'gold', [], true],
    ['silver', 'gold', [], false],
    ['platinum', 'gold', [], false],
    ['GOLD', 'gold', [], false],
    [undefined, 'gold', [], false],
    ['', '', [], false],
    ['gold', 'silver', levels, true],
    ['silver', 'silver', levels, true],
    ['bronze', 'silver', levels, false],
    ['platinum', 'bronze', levels, false],
    [undefined, 'bronze', levels, false],
    ['', 'bronze', levels, false],
    ['gold', 'platinum', levels, false],
    ['platinum', 'platinum', levels, false],
  ])('%s against %s in %j is %s', (presented, required, hierarchy, expected) => {
    expect(satisfiesAcr(presented, required, hierarchy)).toBe(expected);
  });

  it('an unlisted or lower level never satisfies a hierarchy', () => {
    const level = fc.constantFrom(...levels, 'platinum', '');
    fc.assert(
      fc.property(fc.option(level, { nil: undefined }), level, (presented, required) => {
        const isListed = presented !== undefined && [presented, required].every(isLevel);
        const isHighEnough = levels.indexOf(presented ?? '') >= levels.indexOf(required);
        expect(satisfiesAcr(presented, required, levels)).toBe(isListed && isHighEnough);
      }),
    );
  });
});

describe('isWeaker', () => {
  /** A caller with a level, without one, or nobody. */
  const signedIn = (acr: string | null | undefined) =>
    acr === null ? null : aCaller(acr === undefined ? {} : { acr });

  it.each<[string | null | undefined, string | null | undefined, string[], boolean]>([
    ['bronze', 'silver', levels, true],
    ['silver', 'silver', levels, false],
    ['gold', 'silver', levels, false],
    ['platinum', 'silver', levels, true],
    ['', 'silver', levels, true],
    [undefined, 'silver', levels, true],
    [null, 'silver', levels, true],
    ['gold', 'silver', [], true],
    ['silver', 'silver', [], false],
    [undefined, 'silver', [], true],
    [null, 'silver', [], true],
    // What the requester has is worth nothing, so there is nothing to borrow.
    ['gold', 'platinum', levels, false],
    ['platinum', 'platinum', levels, false],
    [null, 'platinum', levels, false],
    ['gold', '', levels, false],
    ['gold', '', [], false],
    ['gold', undefined, [], false],
    ['gold', null, [], false],
    [null, undefined, [], false],
    [null, null, levels, false],
  ])('%j next to a requester with %j in %j is %s', (speaker, requester, hierarchy, expected) => {
    expect(isWeaker(signedIn(speaker), signedIn(requester), hierarchy)).toBe(expected);
  });
});

function isLevel(acr: string): boolean {
  return levels.includes(acr);
}
