import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { satisfiesAcr } from '../../../src/machines/governance/step-up.ts';

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

  it('never lets an unlisted level pass a hierarchy, nor a lower one', () => {
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

function isLevel(acr: string): boolean {
  return levels.includes(acr);
}
