import { resolve } from 'node:path';
import { readPeople } from '../../actors/config/config.ts';
import { handoverAfter, PeopleDirectory, type People as Team } from '../../actors/people/people.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { configFailure } from '../config-failure.ts';
import { plainLine } from '../plain-text.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';

/** `people`: prints the groups, who is on call and until when, and who is away. Throws CliError. */
export async function people(
  session: Session,
  { dir, at = systemClock().now() }: { dir: string; at?: number },
): Promise<void> {
  const { output } = session;
  const directory = resolve(dir);
  const {
    people: team,
    problems,
    warnings,
  } = readPeople(directory, await environmentOf(session, directory));
  if (problems.length > 0) throw configFailure(problems, warnings);
  const found = factsOf(team, at);
  output.json({ at: new Date(at).toISOString(), ...found });
  const { oncall, groups, away } = found;
  if (oncall.length + groups.length + away.length === 0) {
    output.line('people.yaml has no groups, rotations or absences');
  }
  const line = (text: string): void => output.line(plainLine(text));
  for (const { name, people: now, until, next } of oncall) {
    const end = until === null ? '' : ` until ${until}, then ${next.join(', ') || 'no one'}`;
    line(`oncall:${name}  ${now.join(', ') || 'no one'}${end}`);
  }
  for (const { name, members, slack } of groups) {
    const others = slack === null ? [] : [`the members of the Slack user group ${slack}`];
    line(`group:${name}  ${[...members, ...others].join(', ') || 'no one'}`);
  }
  for (const { person, from, until, delegate } of away) {
    const instead = delegate === null ? '' : `, ${delegate} decides`;
    line(`away  ${person} from ${from} until ${until}${instead}`);
  }
}

function factsOf(team: Team, at: number) {
  const directory = new PeopleDirectory(team);
  const time = (moment: number) => new Date(moment).toISOString();
  return {
    oncall: Object.entries(team.oncall).map(([name, rotation]) => {
      const onDutyAt = (moment: number) => directory.onCall(name, moment) ?? [];
      const until = handoverAfter(rotation, at, (one, moment) => directory.isAway(one, moment));
      return {
        ...{ name, people: onDutyAt(at), until: until === null ? null : time(until) },
        next: until === null ? [] : onDutyAt(until),
      };
    }),
    groups: Object.entries(team.groups).map(([name, { members, slack }]) => ({
      ...{ name, members: [...members], slack },
    })),
    away: team.away
      .filter(({ until }) => until > at)
      .map(({ person, from, until, delegate }) => ({
        ...{ person, from: time(from), until: time(until), delegate },
      })),
  };
}
