import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  deferRule,
  escalatedFurther,
  nextMoment,
  openDeferral,
  ruleOf,
} from '../../../src/machines/governance/defer-policy.ts';
import { aCall } from '../../helpers/task-fixtures.ts';

const base = { to: ['channel:console:*'], timeout: 1_000 };

function opened(afters: readonly number[], now = 50) {
  const escalations = afters.map((after, index) => ({ to: `channel:console:${index}`, after }));
  const escalateTo = escalations[0]?.to ?? null;
  const rule = deferRule({ ...base, escalateTo, ...(afters.length > 0 && { escalations }) });
  return { rule, deferral: openDeferral(aCall(), rule, now) };
}

it('each stage is asked at its time, earlier targets are kept, and the deferral ends at the timeout', () => {
  const { deferral } = opened([200, 600]);
  expect(nextMoment(deferral, 'asked')).toBe(250);
  expect(nextMoment(deferral, 'escalated')).toBe(650);
  const further = escalatedFurther(deferral);
  expect([further.targets, further.escalateTo, further.escalateAt]).toEqual([
    ['channel:console:*', 'channel:console:0'],
    'channel:console:1',
    650,
  ]);
  expect(nextMoment(further, 'escalated')).toBe(1_050);
  expect(escalatedFurther(further)).toBe(further);
});

it('a single target is asked at three quarters of the time', () => {
  const rule = deferRule({ ...base, escalateTo: 'channel:console:boss' });
  const deferral = openDeferral(aCall(), rule, 0);
  expect(nextMoment(deferral, 'asked')).toBe(750);
  expect(nextMoment(deferral, 'escalated')).toBe(1_000);
});

it('every stage is reached once, in order, and the rule is restored at each of them', () => {
  const stages = fc.uniqueArray(fc.integer({ min: 1, max: 999 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(stages, (afters) => {
      const sorted = afters.toSorted((one, other) => one - other);
      const { rule, deferral } = opened(sorted, 0);
      let current = deferral;
      const reached = [nextMoment(current, 'asked')];
      for (let next = nextMoment(current, 'escalated'); next < 1_000; ) {
        reached.push(next);
        current = escalatedFurther(current);
        expect(ruleOf(current).escalations).toEqual(rule.escalations);
        expect(ruleOf(current).escalateTo).toBe(rule.escalateTo);
        next = nextMoment(current, 'escalated');
      }
      expect(reached).toEqual(sorted);
    }),
  );
});
