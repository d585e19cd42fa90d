import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nobody, type People, PeopleDirectory } from '../../../src/actors/people/people.ts';
import { attemptedBy, isRefused } from '../../../src/machines/governance/approvers.ts';
import { isShortOfQuorum, withApproval } from '../../../src/machines/governance/decision.ts';
import { aCaller, aDeferral, anAttempt } from '../../helpers/task-fixtures.ts';

const [ann, bo, cy] = ['ann@example.com', 'bo@example.com', 'cy@example.com'];

const people: People = {
  zone: 'UTC',
  groups: {
    finance: { members: [ann], slack: null },
    legal: { members: [], slack: 'S0LEGAL' },
  },
  oncall: {
    ops: {
      ...{ zone: 'UTC', people: [bo], starts: '2026-01-01T00:00', days: 7 },
      ...{ shifts: [], overrides: [] },
    },
  },
  away: [{ person: ann, from: 100, until: 200, delegate: cy }],
};

describe('a directory', () => {
  it('reads groups, rotations, tokens and Slack groups', () => {
    const directory = new PeopleDirectory(people);
    directory.keepSlackGroup('S0LEGAL', ['Bo@Example.com', 'nonsense'], 0);
    const caller = aCaller({
      ...{ email: bo, groups: ['staff'], claims: { level: 3, roles: ['a', 'b'], deep: { x: 1 } } },
    });
    expect(directory.standingOf({ email: ann, caller: null }, 0)).toEqual({
      as: ['group:finance'],
    });
    expect(directory.standingOf({ email: 'BO@example.com', caller }, 0)).toEqual({
      as: [
        ...['group:legal', 'oncall:ops', 'group:staff', 'group:ops/staff'],
        ...['claim:level=3', 'claim:roles=a', 'claim:roles=b'],
      ],
      byToken: [
        ...['group:staff', 'group:ops/staff'],
        ...['claim:level=3', 'claim:roles=a', 'claim:roles=b'],
      ],
    });
    expect(directory.standingOf({ email: null, caller: null }, 0)).toEqual({ as: [] });
    expect(directory.membersOf('none', 0)).toBeNull();
    expect(directory.onCall('none', 0)).toBeNull();
  });

  it('does not match the group name of another provider', () => {
    const directory = new PeopleDirectory(nobody, ['okta', 'okta/eu', 'dashboard']);
    const entriesOf = (provider: string, group: string) =>
      directory.standingOf({ email: null, caller: aCaller({ provider, groups: [group] }) }, 0).as;
    expect(entriesOf('okta', 'staff')).toEqual(['group:staff', 'group:okta/staff']);
    expect(entriesOf('okta', '/eu/staff')).toEqual(['group:/eu/staff', 'group:okta//eu/staff']);
    expect(entriesOf('okta', 'eu/staff')).toEqual(['group:eu/staff']);
    expect(entriesOf('okta/eu', 'staff')).toEqual(['group:staff', 'group:okta/eu/staff']);
    expect(entriesOf('okta', 'dashboard/staff')).toEqual(['group:okta/dashboard/staff']);
  });

  it('reads a Slack group every half minute, and uses its members for a minute at most', async () => {
    const directory = new PeopleDirectory(people);
    const answers: (string[] | Error)[] = [[bo], new Error('503'), new Error('503')];
    const read: string[] = [];
    directory.readSlackGroups(async (id) => {
      read.push(id);
      const answer = answers.shift() ?? [];
      if (answer instanceof Error) throw answer;
      return answer;
    });
    const of = async (at: number) => {
      await directory.refresh(at);
      const { as, unchecked } = directory.standingOf({ email: bo, caller: null }, at);
      return [as.includes('group:legal'), unchecked];
    };
    expect(directory.standingOf({ email: null, caller: null }, 0)).toEqual({ as: [] });
    const unknown = ['group:legal'];
    expect(directory.standingOf({ email: bo, caller: null }, 0).unchecked).toEqual(unknown);
    expect([await of(0), await of(29_999), await of(30_000), await of(30_500)]).toEqual([
      ...[0, 1, 2, 3].map(() => [true, undefined]),
    ]);
    expect([await of(60_000), await of(61_000)]).toEqual([
      [false, unknown],
      [false, undefined],
    ]);
    expect(read).toEqual(['S0LEGAL', 'S0LEGAL', 'S0LEGAL', 'S0LEGAL']);
  });

  it('lists the people of approver entries', () => {
    const directory = new PeopleDirectory(people);
    const entries = [
      'group:legal',
      'group:finance',
      'oncall:ops',
      'claim:a=b',
      'group:x',
      'Cy@Example.com',
    ];
    expect(directory.addressesOf(entries, 0)).toEqual({
      ...{ emails: [ann, bo, cy], slackGroups: ['S0LEGAL'] },
    });
  });

  it('applies a delegation during its time, with the groups of the person who gave it', () => {
    const directory = new PeopleDirectory(people);
    directory.keepSlackGroup('S0LEGAL', [], 0);
    const of = (at: number) => directory.standingOf({ email: cy, caller: null }, at);
    const given = { as: [], for: [{ email: ann, as: ['group:finance'] }] };
    expect([of(99), of(100), of(199), of(200)]).toEqual([
      ...[{ as: [] }, given, given, { as: [] }],
    ]);
    directory.delegate([{ id: 'd', from: cy, to: bo, since: 0, until: 500 }]);
    // A right that was delegated is not delegated again.
    expect(directory.standingOf({ email: bo, caller: null }, 150)).toEqual({
      ...{ as: ['oncall:ops'], for: [{ email: cy, as: [] }] },
    });
  });

  it('applies a change at once', () => {
    const directory = new PeopleDirectory(people);
    directory.replace(nobody);
    expect(directory.standingOf({ email: ann, caller: null }, 0)).toEqual({ as: [] });
  });
});

const everyone = ['a', 'b', 'c', 'd'].map((name) => `${name}@example.com`);
const anyone = fc.constantFrom(...everyone);
const groups = fc.record({
  x: fc.subarray(everyone).map((members) => ({ members, slack: null })),
  y: fc.subarray(everyone).map((members) => ({ members, slack: null })),
});
const delegations = fc.array(
  fc.record({
    id: fc.constant('d'),
    from: anyone,
    to: anyone,
    since: fc.constant(0),
    until: fc.constant(10),
  }),
  { maxLength: 6 },
);
const attempts = fc.array(
  fc.record({
    email: anyone,
    way: fc.constantFrom('claimed', 'token', 'chat'),
    tokenGroups: fc.subarray(['x', 'y']),
  }),
  { maxLength: 10 },
);
const lists = fc.record({
  approvers: fc.option(fc.subarray([...everyone, 'group:x', 'group:y', 'claim:role=r'])),
  quorum: fc.integer({ min: 1, max: 3 }),
  bindApprover: fc.boolean(),
});

describe('four eyes', () => {
  it('hold for any groups, delegations, tokens and chats, and no person counts twice', () => {
    const story = fc.tuple(groups, delegations, attempts, lists, anyone);
    fc.assert(
      fc.property(story, ([members, given, tries, rule, asker]) => {
        const directory = new PeopleDirectory({ ...nobody, groups: members });
        directory.delegate(given);
        const requester = aCaller({ provider: 'idp', userId: asker, email: asker });
        let deferral = aDeferral({ ...rule, fourEyes: true, distinctCallers: true });
        for (const { email, way, tokenGroups } of tries) {
          const caller = aCaller({
            ...{ provider: 'idp', userId: email, email },
            ...{ groups: tokenGroups, claims: { role: 'r' } },
          });
          const attempted = anAttempt({
            ...{ approver: email, email: way === 'token' ? null : email },
            ...{ caller: way === 'claimed' ? null : caller },
            ...(way === 'chat' ? { source: 'slack' } : {}),
          });
          const standing = directory.standingOf(attemptedBy(attempted), 5);
          const attempt = { ...attempted, standing };
          if (isRefused(deferral, attempt, requester)) continue;
          if (!isShortOfQuorum(deferral, attempt)) {
            deferral = withApproval(deferral, attempt);
            break;
          }
          deferral = withApproval(deferral, attempt);
        }
        const counted = deferral.approvals.map(
          ({ approver, for: delegator = approver, caller }) => [
            ...new Set([approver, delegator, caller?.email ?? approver]),
          ],
        );
        expect(counted.flat().filter((name) => name === asker)).toEqual([]);
        const all = counted.flat();
        expect(new Set(all).size).toBe(all.length);
      }),
      { numRuns: 3_000 },
    );
  });
});
