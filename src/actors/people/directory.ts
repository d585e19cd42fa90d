import type { Caller } from '../../machines/domain/task.ts';
import { normaliseEmail } from '../../machines/governance/email.ts';
import type { Delegator, Standing } from '../../machines/governance/standing.ts';
import type { JsonValue } from '../../machines/json.ts';
import type { Delegation } from '../ports/delegations.ts';
import { nobody, type People } from './people-file.ts';
import { onDuty } from './rotation.ts';

/** A person who is about to decide or to read. */
export interface PersonHere {
  /** The email that counts as the person's; `null` without one. */
  email: string | null;
  /** The verified caller, if the person is that caller; `null` otherwise. */
  caller: Caller | null;
}

/** The people of an agent. Memberships are evaluated at the moment of each question. */
export class PeopleDirectory {
  #people: People;
  /** Members of Slack user groups, by id. */
  readonly #slack = new Map<string, readonly string[]>();
  #delegations: readonly Delegation[] = [];

  constructor(people: People = nobody) {
    this.#people = people;
  }

  get people(): People {
    return this.#people;
  }

  get delegations(): readonly Delegation[] {
    return this.#delegations;
  }

  /** Replaces the content of `people.yaml`. */
  replace(people: People): void {
    this.#people = people;
  }

  /** Replaces the delegations that people made themselves. */
  delegate(delegations: readonly Delegation[]): void {
    this.#delegations = delegations;
  }

  /** Replaces the members of a Slack user group. */
  keepSlackGroup(id: string, emails: readonly string[]): void {
    this.#slack.set(
      id,
      emails.flatMap((email) => normaliseEmail(email) ?? []),
    );
  }

  /**
   * Returns the entries of approver lists that a person fulfils at a moment, and the people for whom the person may
   * decide. Delegations are not transitive: a right that was delegated to a person cannot be delegated by that person.
   */
  standingOf({ email, caller }: PersonHere, at: number): Standing {
    const normal = normaliseEmail(email ?? '');
    const own = normal === null ? [] : this.#entriesOf(normal, at);
    const as = [...new Set([...own, ...(caller === null ? [] : entriesOfToken(caller))])];
    const delegators = normal === null ? [] : this.#delegatorsOf(normal, at);
    return { as, ...(delegators.length === 0 ? {} : { for: delegators }) };
  }

  /** Returns the people who are on call at a moment; `null` for an unknown rotation. */
  onCall(name: string, at: number): string[] | null {
    const rotation = this.#people.oncall[name];
    return rotation === undefined ? null : onDuty(rotation, at, (one) => this.isAway(one, at));
  }

  /** Returns the emails of a group's members; `null` for an unknown group. */
  membersOf(name: string): readonly string[] | null {
    const group = this.#people.groups[name];
    if (group === undefined) return null;
    const ofSlack = group.slack === null ? [] : (this.#slack.get(group.slack) ?? []);
    return [...new Set([...group.members, ...ofSlack])];
  }

  /** Returns true if a person is away at a moment. */
  isAway(person: string, at: number): boolean {
    return this.#people.away.some(
      (one) => one.person === person && isDuring(one.from, one.until, at),
    );
  }

  #entriesOf(email: string, at: number): string[] {
    const { groups, oncall } = this.#people;
    return [
      ...Object.keys(groups)
        .filter((name) => this.membersOf(name)?.includes(email))
        .map((name) => `group:${name}`),
      ...Object.keys(oncall)
        .filter((name) => this.onCall(name, at)?.includes(email))
        .map((name) => `oncall:${name}`),
    ];
  }

  #delegatorsOf(email: string, at: number): Delegator[] {
    const given = [
      ...this.#delegations
        .filter(({ to, since, until }) => to === email && isDuring(since, until, at))
        .map(({ from }) => from),
      ...this.#people.away
        .filter(({ delegate, from, until }) => delegate === email && isDuring(from, until, at))
        .map(({ person }) => person),
    ];
    return [...new Set(given)]
      .filter((from) => from !== email)
      .map((from) => ({ email: from, as: this.#entriesOf(from, at) }));
  }
}

function isDuring(from: number, until: number, at: number): boolean {
  return from <= at && at < until;
}

/** Returns the groups and claims of a verified token as entries of approver lists. */
function entriesOfToken({ groups = [], claims = {} }: Caller): string[] {
  return [
    ...groups.map((name) => `group:${name}`),
    ...Object.entries(claims).flatMap(([name, value]) =>
      valuesOf(value).map((one) => `claim:${name}=${one}`),
    ),
  ];
}

function valuesOf(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.filter((one) => typeof one !== 'object').map(String);
  return value === null || typeof value === 'object' ? [] : [String(value)];
}
