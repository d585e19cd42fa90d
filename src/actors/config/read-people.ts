import { readEntry } from '../../machines/governance/standing.ts';
import { nearestName } from '../nearest-name.ts';
import { nobody, type People, type Rotation, rotationFaults } from '../people/people.ts';
import type { Environment } from './channel-resolution.ts';
import {
  type ConfigProblem,
  errorAt,
  type Finding,
  type Path,
  warningAt,
} from './config-problem.ts';
import type { PlacedPolicy } from './parse-config.ts';
import { readSettingsFile } from './read-settings-file.ts';
import { momentIn, type PeopleFile, peopleSchema } from './schema-people.ts';
import type { ServiceConfig } from './service-schema.ts';
import { askingRules } from './tool-rules.ts';

/** The people of an agent, and the problems of `people.yaml`. */
export interface PeopleReading {
  people: People;
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
}

/** Name of the file with the groups, rotations and absences. */
export const peopleFile = 'people.yaml';

/** Reads `people.yaml` next to `service.yaml`; without the file no one is in a group. Never throws. */
export function readPeople(directory: string, env: Environment): PeopleReading {
  const file = readSettingsFile({
    ...{ directory, file: peopleFile, schema: peopleSchema, env },
    unknownKeys: 'error',
  });
  if (file === null) return { people: nobody, problems: [], warnings: [] };
  const { content, problems, warnings } = file;
  if (content === null) return { people: nobody, problems, warnings };
  const found = file.place(faultsOf(content));
  const isSound = found.problems.length === 0;
  return {
    people: isSound ? peopleOf(content) : nobody,
    problems: [...problems, ...found.problems],
    warnings: [...warnings, ...found.warnings],
  };
}

/** The settings by which people are identified. */
type Access = Pick<ServiceConfig, 'approvals' | 'auth' | 'channels'>;

/** Finds approvers of a policy that no one fulfils, so that its calls would wait until they expire. */
export function unknownApprovers(
  { config, problemAt }: PlacedPolicy,
  people: People,
  access: Access,
): ConfigProblem[] {
  const { defer } = config.security;
  const asking = askingRules(config.security);
  if (!defer.enabled && asking.length === 0) return [];
  const lists: { path: Path; entries: readonly string[] }[] = [
    { path: ['security', 'defer', 'default_approvers'], entries: defer.default_approvers },
    ...asking.flatMap(({ rule, path }) => [
      { path: [...path, 'approvers'], entries: rule.approvers },
      {
        path: [...path, 'quorum'],
        entries: typeof rule.quorum === 'number' ? [] : Object.keys(rule.quorum),
      },
    ]),
  ];
  return lists.flatMap(({ path, entries }) =>
    entries.flatMap((entry, index) => {
      const message = faultOf(entry, people, access);
      const at = path.at(-1) === 'quorum' ? entry : index;
      return message === null ? [] : [problemAt([...path, at], message)];
    }),
  );
}

/** Finds callers of `mcp.views` that no one fulfils. */
export function unknownViewers(
  { config, problemAt }: PlacedPolicy,
  people: People,
  access: Access,
): ConfigProblem[] {
  return config.mcp.views.flatMap(({ for: entries }, index) =>
    entries.flatMap((entry) => {
      const message = faultOf(entry, people, access);
      return message === null ? [] : [problemAt(['mcp', 'views', index, 'for'], message)];
    }),
  );
}

function faultOf(
  entry: string,
  { groups, oncall }: People,
  { approvals, auth: { dashboard_issuer: dashboard, providers }, channels }: Access,
): string | null {
  const read = readEntry(entry);
  if (read === null) return null;
  const { kind, name } = read;
  if (kind === 'claim') {
    return providers.length > 0 || dashboard !== undefined
      ? null
      : 'without auth.providers no one has a verified claim; add a provider';
  }
  if (kind === 'oncall') {
    if (Object.hasOwn(oncall, name)) return null;
    return `${peopleFile} has no rotation of this name${advice(name, Object.keys(oncall))}`;
  }
  const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
  // The settings of the dashboard, not of the agent, name the claim with the groups of its people.
  const hasTokenGroups =
    dashboard !== undefined ||
    [...providers, approvals?.sign_in].some(
      (one) => one !== undefined && 'groups_claim' in one && one.groups_claim !== undefined,
    );
  if (group === undefined) {
    if (hasTokenGroups) return null;
    return `no one is in this group: ${peopleFile} has none of this name, and no provider has a groups_claim${advice(name, Object.keys(groups))}`;
  }
  if (group.slack !== null && !channels.includes('slack')) {
    return `the members of this group are in the Slack user group ${group.slack}, and slack is not in channels; add it`;
  }
  const isEmpty = group.members.length === 0 && group.slack === null && !hasTokenGroups;
  return isEmpty ? `no one is in this group; add members to it in ${peopleFile}` : null;
}

function advice(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === null ? '' : `; did you mean ${near}?`;
}

function faultsOf({ zone, groups: _, oncall, away }: PeopleFile): Finding[] {
  return [
    ...Object.entries(oncall).flatMap(([name, written]) => [
      ...rotationFindings(['oncall', name], written, zone),
      ...absentOverrides(['oncall', name], written, { zone, away }),
    ]),
    ...away.flatMap((one, index) => absenceFindings(['away', index], one, zone)),
    ...circles(away).map((index) =>
      errorAt(['away', index, 'delegate'], 'these delegations form a circle; name someone else'),
    ),
  ];
}

type WrittenRotation = PeopleFile['oncall'][string];

function rotationFindings(path: Path, written: WrittenRotation, fallback: string): Finding[] {
  const { people, shifts, starts } = written;
  if ((people.length === 0) === (shifts.length === 0)) {
    return [
      errorAt(path, 'a rotation has people, who take turns, or shifts; write one of the two'),
    ];
  }
  if (people.length > 0 && starts === undefined) {
    return [errorAt(path, 'starts is missing; write the local time of the first turn')];
  }
  const zone = written.zone ?? fallback;
  const reversed = [
    ...written.overrides.flatMap((one, index) =>
      absenceFindings([...path, 'overrides', index], one, zone),
    ),
    ...shifts.flatMap(({ from, to }, index) =>
      minutesOf(from) < minutesOf(to)
        ? []
        : [
            errorAt(
              [...path, 'shifts', index],
              'the shift ends before it starts; split it at midnight',
            ),
          ],
    ),
  ];
  if (reversed.length > 0) return reversed;
  return rotationFaults(rotationOf(written, fallback)).map((message) => errorAt(path, message));
}

/** Warns of overrides by a person who is away meanwhile. */
function absentOverrides(
  path: Path,
  { zone: own, overrides }: WrittenRotation,
  { zone, away }: Pick<PeopleFile, 'zone' | 'away'>,
): Finding[] {
  return overrides.flatMap(({ person, from, until }, index) => {
    const isAway = away.some(
      (one) =>
        one.person === person &&
        (one.from === undefined || momentIn(one.from, zone) < momentIn(until, own ?? zone)) &&
        momentIn(from, own ?? zone) < momentIn(one.until, zone),
    );
    const message = `${person} is away during this override, and the rotation goes by its turns or shifts then; name someone else`;
    return isAway ? [warningAt([...path, 'overrides', index, 'person'], message)] : [];
  });
}

function absenceFindings(
  path: Path,
  one: { person: string; from?: string | undefined; until: string; delegate?: string | undefined },
  zone: string,
): Finding[] {
  const from = one.from === undefined ? Number.NEGATIVE_INFINITY : momentIn(one.from, zone);
  return [
    ...(from < momentIn(one.until, zone)
      ? []
      : [errorAt([...path, 'until'], 'it ends before it starts; write a later time')]),
    ...(one.delegate === one.person
      ? [errorAt([...path, 'delegate'], 'no one can delegate to oneself; name someone else')]
      : []),
  ];
}

/** Returns the entries whose delegations lead back to their own person. */
function circles(away: PeopleFile['away']): number[] {
  const given = new Map(
    away.flatMap(({ person, delegate }) => (delegate === undefined ? [] : [[person, delegate]])),
  );
  return away.flatMap(({ person, delegate }, index) => {
    const seen = new Set<string>();
    let next = delegate;
    while (next !== undefined && next !== person && !seen.has(next)) {
      seen.add(next);
      next = given.get(next);
    }
    return delegate !== undefined && delegate !== person && next === person ? [index] : [];
  });
}

function peopleOf({ zone, groups, oncall, away }: PeopleFile): People {
  return {
    zone,
    groups: Object.fromEntries(
      Object.entries(groups).map(([name, group]) => [
        name,
        Array.isArray(group) ? { members: group, slack: null } : group,
      ]),
    ),
    oncall: Object.fromEntries(
      Object.entries(oncall).map(([name, written]) => [name, rotationOf(written, zone)]),
    ),
    away: away.map(({ person, from, until, delegate }) => ({
      person,
      from: from === undefined ? Number.NEGATIVE_INFINITY : momentIn(from, zone),
      until: momentIn(until, zone),
      delegate: delegate ?? null,
    })),
  };
}

const turns = { daily: 1, weekly: 7, biweekly: 14 };

const weekDays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

function rotationOf(
  { zone, people, starts = '', turn, shifts, overrides }: WrittenRotation,
  fallback: string,
): Rotation {
  const timeZone = zone ?? fallback;
  return {
    zone: timeZone,
    people,
    starts,
    days: turns[turn],
    shifts: shifts.map(({ person, days, from, to }) => ({
      person,
      days: days.map((day) => weekDays.indexOf(day) + 1),
      from: minutesOf(from),
      to: minutesOf(to),
    })),
    overrides: overrides.map(({ person, from, until }) => ({
      person,
      from: momentIn(from, timeZone),
      until: momentIn(until, timeZone),
    })),
  };
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
