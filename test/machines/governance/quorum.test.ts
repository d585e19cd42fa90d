import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Approval } from '../../../src/machines/domain/task.ts';
import {
  approvalsIn,
  deciders,
  fillsQuorum,
  largerQuorumOf,
} from '../../../src/machines/governance/quorum.ts';

const approval = (approver: string, ...as: string[]): Approval => ({
  ...{ approver: `${approver}@example.com`, at: 1 },
  ...(as.length === 0 ? {} : { as }),
});

const [finance, legal] = ['group:finance', 'group:legal'];

describe('a quorum by groups', () => {
  it.each<[string, Approval[], boolean]>([
    ['nobody', [], false],
    ['one of each', [approval('ann', finance), approval('bo', legal)], true],
    ['two of one group', [approval('ann', finance), approval('bo', finance)], false],
    ['one person in both groups', [approval('ann', finance, legal)], false],
    [
      'a person in both groups and one in the first',
      [approval('ann', finance, legal), approval('bo', finance)],
      true,
    ],
    [
      'a person in both groups and one in the second',
      [approval('ann', finance, legal), approval('bo', legal)],
      true,
    ],
    ['a stranger', [approval('ann', finance), approval('bo')], false],
  ])('is reached by %s: %#', (_, approvals, isFilled) => {
    expect(fillsQuorum(approvals, { [finance]: 1, [legal]: 1 })).toBe(isFilled);
  });

  it('counts a person by email, and by the person who delegated the decision', () => {
    const quorum = { 'ann@example.com': 1 };
    expect(fillsQuorum([approval('ann')], quorum)).toBe(true);
    expect(fillsQuorum([{ ...approval('bo'), for: 'ann@example.com' }], quorum)).toBe(true);
    expect(fillsQuorum([{ ...approval('ann'), for: 'bo@example.com' }], quorum)).toBe(false);
  });

  it('finds an assignment if one exists', () => {
    const groups = ['group:a', 'group:b', 'group:c'];
    const people = fc.array(fc.subarray(groups), { maxLength: 6 });
    const counts = fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2));
    fc.assert(
      fc.property(people, counts, (memberships, wanted) => {
        const quorum = Object.fromEntries(groups.map((group, at) => [group, wanted[at] ?? 0]));
        const approvals = memberships.map((as, at) => approval(`p${at}`, ...as));
        const places = groups.flatMap((group) => Array<string>(quorum[group] ?? 0).fill(group));
        expect(fillsQuorum(approvals, quorum)).toBe(canFill(places, memberships));
      }),
      { numRuns: 300 },
    );
  });
});

/** Tries every assignment. */
function canFill([place, ...places]: string[], people: readonly string[][]): boolean {
  if (place === undefined) return true;
  return people.some(
    (groups, at) => groups.includes(place) && canFill(places, people.toSpliced(at, 1)),
  );
}

it('a quorum takes the larger number of each group', () => {
  expect(largerQuorumOf({ [finance]: 1 }, { [finance]: 2, [legal]: 1 })).toEqual({
    [finance]: 2,
    [legal]: 1,
  });
  expect(largerQuorumOf(undefined, { [legal]: 1 })).toEqual({ [legal]: 1 });
  expect(largerQuorumOf(undefined, undefined)).toBeUndefined();
});

it('a quorum names its approvers unless the rule names them', () => {
  const quorum = { ' group:legal': 1, 'Ann@Example.com': 2 };
  expect([approvalsIn(quorum), approvalsIn(2)]).toEqual([3, 2]);
  const quorumOf = { 'group:legal': 1, 'ann@example.com': 2 };
  expect(deciders({ approvers: [], quorum }, ['eve@example.com'])).toEqual({
    ...{ approvers: ['group:legal', 'ann@example.com'], quorum: 3, quorumOf },
  });
  expect(deciders({ approvers: ['bo@example.com'], quorum }, [])).toEqual({
    ...{ approvers: ['bo@example.com'], quorum: 3, quorumOf },
  });
  expect(deciders({ approvers: [], quorum: 1 }, ['eve@example.com'])).toEqual({
    ...{ approvers: ['eve@example.com'], quorum: 1 },
  });
});
