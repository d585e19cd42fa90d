import type { Caller } from '../../machines/domain/task.ts';
import { normaliseEmail } from '../../machines/governance/email.ts';
import { type Delegator, readEntry, type Standing } from '../../machines/governance/standing.ts';
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

/** The people whom approver entries name, as emails and as Slack user groups. */
export interface ApproverAddresses {
  emails: readonly string[];
  slackGroups: readonly string[];
}

/** Returns the emails of the members of a Slack user group. Rejects if the members cannot be read now. */
export type SlackMembers = (id: string) => Promise<readonly string[]>;

/** The members of a Slack user group as read at a moment, in epoch milliseconds. */
interface ReadGroup {
  members: readonly string[];
  at: number;
}

/**
 * Time in which the members of a Slack user group count, after which they are read again, and after which a failed
 * look-up is repeated, in milliseconds.
 */
const slackGroups = { countFor: 60_000, readAfter: 30_000, repeatAfter: 1_000 };

/** The people of an agent. Memberships are evaluated at the moment of each question. */
export class PeopleDirectory {
  #people: People;
  readonly #providers: readonly string[];
  /** Members of Slack user groups, by id. */
  readonly #slack = new Map<string, ReadGroup>();
  readonly #reading = new Map<string, Promise<void>>();
  /** Times of failed look-ups, by id. */
  readonly #failed = new Map<string, number>();
  #slackMembers: SlackMembers | null = null;
  #delegations: readonly Delegation[] = [];
  readonly #onReplaced: (() => void)[] = [];

  /** `providers` are the names that an entry such as `group:okta/finance` may begin with. */
  constructor(people: People = nobody, providers: readonly string[] = []) {
    this.#people = people;
    this.#providers = providers;
  }

  get people(): People {
    return this.#people;
  }

  get delegations(): readonly Delegation[] {
    return this.#delegations;
  }

  /** Ids of the Slack user groups whose members belong to groups. */
  get slackGroups(): string[] {
    const { groups } = this.#people;
    return [...new Set(Object.values(groups).flatMap(({ slack }) => slack ?? []))];
  }

  /** Replaces the content of `people.yaml`. */
  replace(people: People): void {
    this.#people = people;
    for (const listener of this.#onReplaced) listener();
  }

  /** Subscribes to replacements of the content of `people.yaml`. */
  onReplaced(listener: () => void): void {
    this.#onReplaced.push(listener);
  }

  /** Replaces the delegations that people made themselves. */
  delegate(delegations: readonly Delegation[]): void {
    this.#delegations = delegations;
  }

  /** Reads the members of Slack user groups by this function from now on. */
  readSlackGroups(members: SlackMembers): void {
    this.#slackMembers = members;
  }

  /** Replaces the members of a Slack user group as read at a moment. */
  keepSlackGroup(id: string, emails: readonly string[], at: number): void {
    const members = emails.flatMap((email) => normaliseEmail(email) ?? []);
    this.#slack.set(id, { members, at });
  }

  /**
   * Reads the members of Slack user groups that were read more than half a minute ago. `null` if there are none to
   * read. Never rejects: a group that cannot be read keeps its members until they are a minute old.
   */
  refresh(at: number): Promise<void> | null {
    const members = this.#slackMembers;
    const ids = this.slackGroups;
    for (const id of this.#slack.keys()) if (!ids.includes(id)) this.#slack.delete(id);
    const due = ids.filter((id) => this.#isDue(id, at));
    if (members === null || due.length === 0) return null;
    return Promise.all(due.map((id) => this.#read(id, members, at))).then(() => undefined);
  }

  /**
   * Returns the entries of approver lists that a person fulfils at a moment, and the people for whom the person may
   * decide. Delegations are not transitive: a right that was delegated to a person cannot be delegated by that person.
   */
  standingOf({ email, caller }: PersonHere, at: number): Standing {
    const normal = normaliseEmail(email ?? '');
    const own = normal === null ? [] : this.#entriesOf(normal, at);
    const vouched = caller === null ? [] : entriesOfToken(caller, this.#providers);
    const as = [...new Set([...own, ...vouched])];
    const byToken = vouched.filter((entry) => !own.includes(entry));
    const delegators = normal === null ? [] : this.#delegatorsOf(normal, at);
    const unknown = normal === null ? [] : this.#uncheckedAt(at);
    const unchecked = unknown.filter((entry) => !as.includes(entry));
    return {
      as,
      ...(byToken.length === 0 ? {} : { byToken }),
      ...(delegators.length === 0 ? {} : { for: delegators }),
      ...(unchecked.length === 0 ? {} : { unchecked }),
    };
  }

  /** Returns the people who are on call at a moment; `null` for an unknown rotation. */
  onCall(name: string, at: number): string[] | null {
    const rotation = this.#people.oncall[name];
    return rotation === undefined ? null : onDuty(rotation, at, (one) => this.isAway(one, at));
  }

  /** Returns the emails of a group's members; `null` for an unknown group. */
  membersOf(name: string, at: number): readonly string[] | null {
    const { groups } = this.#people;
    const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
    if (group === undefined) return null;
    return [...new Set([...group.members, ...(this.#ofSlack(group.slack, at) ?? [])])];
  }

  /** Returns the people whom approver entries name at a moment. Claims name no one. */
  addressesOf(entries: readonly string[], at: number): ApproverAddresses {
    const found = entries.map((entry) => this.#addressOf(entry, at));
    return {
      emails: [...new Set(found.flatMap(({ emails }) => emails))],
      slackGroups: [...new Set(found.flatMap(({ slackGroups: ids }) => ids))],
    };
  }

  /** Returns true if a person is away at a moment. */
  isAway(person: string, at: number): boolean {
    return this.#people.away.some(
      (one) => one.person === person && isDuring(one.from, one.until, at),
    );
  }

  #addressOf(entry: string, at: number): ApproverAddresses {
    const named = readEntry(entry);
    if (named === null) {
      const email = normaliseEmail(entry);
      return { emails: email === null ? [] : [email], slackGroups: [] };
    }
    if (named.kind === 'oncall')
      return { emails: this.onCall(named.name, at) ?? [], slackGroups: [] };
    if (named.kind === 'claim') return { emails: [], slackGroups: [] };
    const { groups } = this.#people;
    const slack = Object.hasOwn(groups, named.name) ? groups[named.name]?.slack : null;
    const emails = [...(this.membersOf(named.name, at) ?? [])];
    return { emails, slackGroups: slack ? [slack] : [] };
  }

  #isDue(id: string, at: number): boolean {
    const { readAfter, repeatAfter } = slackGroups;
    const isOld = at - (this.#slack.get(id)?.at ?? Number.NEGATIVE_INFINITY) >= readAfter;
    return isOld && at - (this.#failed.get(id) ?? Number.NEGATIVE_INFINITY) >= repeatAfter;
  }

  #read(id: string, members: SlackMembers, at: number): Promise<void> {
    const underway = this.#reading.get(id);
    if (underway !== undefined) return underway;
    const reading = members(id)
      .then(
        (emails) => this.keepSlackGroup(id, emails, at),
        () => void this.#failed.set(id, at),
      )
      .finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }

  /** Returns the members of a Slack user group, `[]` without a group; `null` while they are unknown. */
  #ofSlack(id: string | null, at: number): readonly string[] | null {
    if (id === null) return [];
    const read = this.#slack.get(id);
    return read !== undefined && at - read.at < slackGroups.countFor ? read.members : null;
  }

  #uncheckedAt(at: number): string[] {
    return Object.entries(this.#people.groups)
      .filter(([, { slack }]) => this.#ofSlack(slack, at) === null)
      .map(([name]) => `group:${name}`);
  }

  #entriesOf(email: string, at: number): string[] {
    const { groups, oncall } = this.#people;
    return [
      ...Object.keys(groups)
        .filter((name) => this.membersOf(name, at)?.includes(email))
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

/**
 * Returns the groups and claims of a verified token as entries of approver lists. A group whose name looks like a group of
 * another provider counts only with the token's own provider.
 */
function entriesOfToken(
  { provider, groups = [], claims = {} }: Caller,
  providers: readonly string[],
): string[] {
  const isOf = (one: string, name: string) => name.startsWith(`${one}/`);
  // The name of a provider may begin with that of another one and a slash.
  const longer = providers.filter((one) => isOf(provider, one));
  const names = groups.filter((name) => !providers.some((one) => isOf(one, name)));
  const own = groups.map((name) => `${provider}/${name}`);
  const qualified = own.filter((name) => !longer.some((one) => isOf(one, name)));
  return [
    ...[...names, ...qualified].map((name) => `group:${name}`),
    ...Object.entries(claims).flatMap(([name, value]) =>
      valuesOf(value).map((one) => `claim:${name}=${one}`),
    ),
  ];
}

function valuesOf(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.filter((one) => typeof one !== 'object').map(String);
  return value === null || typeof value === 'object' ? [] : [String(value)];
}
