import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  formatProblem,
  parseConfig,
  readPeople,
  unknownApprovers,
} from '../../../src/actors/config/config.ts';
import { nobody } from '../../../src/actors/people/people.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdpoint-people-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function reading(text: string) {
  writeFileSync(join(directory, 'people.yaml'), text);
  return readPeople(directory, {});
}

it('the people are empty without a file', () => {
  expect(readPeople(directory, {})).toEqual({ people: nobody, problems: [], warnings: [] });
});

it('the people file has groups, rotations, shifts and absences', () => {
  const { people, problems, warnings } = reading(`
zone: Europe/Berlin
groups:
  finance: [Ann@Example.com, bo@example.com]
  legal: {slack: S0LEGAL}
oncall:
  ops: {people: [ann@example.com], starts: "2026-11-02T09:00", turn: daily}
  desk:
    zone: UTC
    shifts: [{person: bo@example.com, days: [mon, tue, wed, thu, fri, sat, sun]}]
    overrides: [{person: ann@example.com, from: "2026-11-02", until: "2026-11-03T12:00"}]
away:
  - {person: ann@example.com, until: 2026-12-24, delegate: bo@example.com}
`);
  expect(problems).toEqual([]);
  expect(warnings.map(({ path, message }) => [path, message])).toEqual([
    [
      'oncall.desk.overrides.0.person',
      'ann@example.com is away during this override, and the rotation goes by its turns or shifts then; name someone else',
    ],
  ]);
  const week = [1, 2, 3, 4, 5, 6, 7];
  expect(people).toEqual({
    zone: 'Europe/Berlin',
    groups: {
      finance: { members: ['ann@example.com', 'bo@example.com'], slack: null },
      legal: { members: [], slack: 'S0LEGAL' },
    },
    oncall: {
      ops: {
        ...{ zone: 'Europe/Berlin', people: ['ann@example.com'], starts: '2026-11-02T09:00' },
        ...{ days: 1, shifts: [], overrides: [] },
      },
      desk: {
        ...{ zone: 'UTC', people: [], starts: '', days: 7 },
        shifts: [{ person: 'bo@example.com', days: week, from: 0, to: 1_440 }],
        overrides: [
          {
            person: 'ann@example.com',
            from: Date.parse('2026-11-02T00:00:00Z'),
            until: Date.parse('2026-11-03T12:00:00Z'),
          },
        ],
      },
    },
    away: [
      {
        ...{ person: 'ann@example.com', from: Number.NEGATIVE_INFINITY },
        ...{ until: Date.parse('2026-12-23T23:00:00Z'), delegate: 'bo@example.com' },
      },
    ],
  });
});

it.each([
  [
    'away: [{person: ann, until: 2027-01-01}]',
    'people.yaml:1:17: away.0.person: this is no email; write name@example.com',
  ],
  [
    'groups: {finance: [ann]}',
    'people.yaml:1:19: groups.finance: this must be a list of emails, or a map such as {slack: S0123ABC}',
  ],
  [
    'zone: Mars/Base',
    'people.yaml:1:7: zone: this is no time zone; write a name such as Europe/Berlin',
  ],
  ['teams: {}', 'people.yaml:1:1: '],
  [
    'oncall: {ops: {people: [ann@example.com]}}',
    'people.yaml:1:15: starts is missing; write the local time of the first turn',
  ],
  [
    'oncall: {ops: {}}',
    'people.yaml:1:15: a rotation has people, who take turns, or shifts; write one of the two',
  ],
  [
    'oncall: {ops: {shifts: [{person: ann@example.com, days: [mon]}]}}',
    'people.yaml:1:15: no one is on call from Tuesday 00:00; add a shift',
  ],
  [
    'oncall: {ops: {shifts: [{person: a@b.de, days: [mon, tue, wed, thu, fri, sat, sun]}, {person: c@d.de, days: [tue]}]}}',
    'people.yaml:1:15: two shifts overlap at Tuesday 00:00; shorten one',
  ],
  [
    'oncall: {ops: {people: [a@b.de], starts: 2026-01-05, overrides: [{person: c@d.de, from: 2026-02-01, until: 2026-02-03}, {person: a@b.de, from: 2026-02-02, until: 2026-02-04}]}}',
    'people.yaml:1:15: two overrides overlap at 2026-02-02T00:00:00.000Z; shorten one',
  ],
  [
    'oncall: {ops: {shifts: [{person: ann@example.com, days: [mon], from: "17:00", to: "09:00"}]}}',
    'people.yaml:1:25: the shift ends before it starts; split it at midnight',
  ],
  [
    'away: [{person: ann@example.com, until: 2026-12-24, delegate: ann@example.com}]',
    'people.yaml:1:63: no one can delegate to oneself; name someone else',
  ],
  [
    'away: [{person: ann@example.com, from: 2026-12-25, until: 2026-12-24}]',
    'people.yaml:1:59: it ends before it starts; write a later time',
  ],
  [
    'away: [{person: a@b.de, until: 2027-01-01, delegate: c@d.de}, {person: c@d.de, until: 2027-01-01, delegate: a@b.de}]',
    'people.yaml:1:54: these delegations form a circle; name someone else',
  ],
])('the people file %s is refused', (text, sentence) => {
  const { people, problems } = reading(text);
  expect(formatProblem(problems[0] as never).slice(0, sentence.length)).toBe(sentence);
  expect(people).toEqual(nobody);
});

const withApprovers = (approvers: string[], auth = '') =>
  parseConfig(
    `agent_id: a
model: {provider: scripted}
${auth}
security:
  defer: {enabled: true, tools: {pay: {to: "channel:console:*", approvers: ${JSON.stringify(approvers)}}}}
`,
    { file: 'service.yaml', env: { S: 'x' } },
  );

const token =
  'auth: {providers: [{type: static_token, name: t, groups_claim: groups, settings: {token_env: S}}]}';

it.each([
  [
    'group:finanse',
    '',
    'no one is in this group: people.yaml has none of this name, and no provider has a groups_claim; did you mean finance?',
  ],
  ['group:finanse', token, null],
  ['group:empty', '', 'no one is in this group; add members to it in people.yaml'],
  ['group:finance', '', null],
  ['oncall:opps', '', 'people.yaml has no rotation of this name; did you mean ops?'],
  ['oncall:ops', '', null],
  ['claim:role=x', '', 'without auth.providers no one has a verified claim; add a provider'],
  ['claim:role=x', token, null],
  ['ann@example.com', '', null],
])('an approver %s with %j: %s', (entry, auth, message) => {
  const { people } = reading(`
groups: {finance: [ann@example.com], empty: []}
oncall: {ops: {people: [ann@example.com], starts: "2026-11-02T09:00"}}
`);
  const read = withApprovers([entry], auth);
  if (!read.ok) throw new Error(read.problems.map(formatProblem).join());
  const [policy] = read.policies;
  const found = unknownApprovers(policy as never, people, read.config);
  expect(found.map((one) => one.message)).toEqual(message === null ? [] : [message]);
});
