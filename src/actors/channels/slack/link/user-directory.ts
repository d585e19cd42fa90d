import type { UsersInfoResponse, WebClient } from '@slack/web-api';
import { LRUCache } from 'lru-cache';
import { normaliseEmail } from '../../../../machines/governance/email.ts';
import type { Clock, Log } from '../../../ports.ts';
import { linkFault } from './slack-failure.ts';

export interface UserDirectoryOptions {
  web: Pick<WebClient, 'users'>;
  clock: Clock;
  /** Our own workspace; people of another have no email here. Nobody is told apart while it is `null`. */
  self?: () => { teamId: string } | null;
  log?: Log;
}

/** A user of a workspace. */
export interface SlackPerson {
  name: string;
  /** In lower case; `null` when Slack vouches for none. */
  email: string | null;
  /** True for bots and deactivated users, who decide nothing. */
  isBarred?: true;
}

/** Returns the agent-wide name of a user, the same for requests and decisions. */
export function personId(teamId: string, userId: string): string {
  return `slack:${teamId}/${userId}`;
}

type SlackUser = NonNullable<UsersInfoResponse['user']>;

/** Lifetime of a look-up, in milliseconds. */
const knownFor = 600_000;

/** Looks up users; caches no failure. */
export class UserDirectory {
  readonly #options: UserDirectoryOptions;
  readonly #known = new LRUCache<string, { person: SlackPerson; until: number }>({ max: 1_000 });
  readonly #underway = new Map<string, Promise<SlackPerson>>();
  #isWarned = false;

  constructor(options: UserDirectoryOptions) {
    this.#options = options;
  }

  /** Returns the user of an id, possibly cached; a failed look-up counts as a user without an email. Never rejects. */
  person(userId: string): Promise<SlackPerson> {
    return this.#unlessFailed(userId, this.find(userId));
  }

  /**
   * Returns the current user of an id, fresh enough for a decision; a failed look-up counts as a user without an email.
   * Never rejects.
   */
  personNow(userId: string): Promise<SlackPerson> {
    return this.#unlessFailed(userId, this.#lookUp(userId));
  }

  async #unlessFailed(userId: string, lookup: Promise<SlackPerson>): Promise<SlackPerson> {
    try {
      return await lookup;
    } catch (error) {
      this.#warn(error);
      return { name: userId, email: null };
    }
  }

  /** Returns the user of an id. Rejects as the client does. */
  async find(userId: string): Promise<SlackPerson> {
    const known = this.#known.get(userId);
    if (known !== undefined && this.#options.clock.now() < known.until) return known.person;
    const underway = this.#underway.get(userId);
    if (underway !== undefined) return underway;
    const lookup = this.#lookUp(userId).finally(() => this.#underway.delete(userId));
    this.#underway.set(userId, lookup);
    return lookup;
  }

  async #lookUp(userId: string): Promise<SlackPerson> {
    const { user } = await this.#options.web.users.info({ user: userId });
    if (user?.id !== userId) return { name: userId, email: null };
    const person = {
      name: nameOf(user) ?? userId,
      email: this.#emailOf(user),
      ...(isBarred(user) && { isBarred: true as const }),
    };
    const until = this.#options.clock.now() + knownFor;
    this.#known.set(userId, { person, until });
    return person;
  }

  /** Bots, deactivated users and people of other workspaces decide nothing by an email. */
  #emailOf(user: SlackUser): string | null {
    if (isBarred(user) || user.is_email_confirmed === false || this.#isStranger(user)) return null;
    return normaliseEmail(user.profile?.email ?? '');
  }

  /** Another workspace answers for the email of its own people, not for ours. */
  #isStranger(user: SlackUser): boolean {
    const ours = this.#options.self?.()?.teamId;
    if (Reflect.get(user, 'is_stranger') === true) return true;
    if (ours === undefined || user.team_id === undefined) return false;
    return user.team_id !== ours && user.enterprise_user?.teams?.includes(ours) !== true;
  }

  /** Says once that people cannot be looked up, not at each click. */
  #warn(error: unknown): void {
    if (this.#isWarned) return;
    this.#isWarned = true;
    this.#options.log?.warn(
      { error: linkFault(error).message },
      'slack: people cannot be looked up, so nobody is known by email',
    );
  }
}

function isBarred({ id, deleted, is_bot: isBot }: SlackUser): boolean {
  return deleted === true || isBot === true || id === 'USLACKBOT';
}

function nameOf({ profile, real_name: realName, name }: SlackUser): string | null {
  const names = [profile?.display_name, profile?.real_name, realName, name];
  return names.map((text) => text?.trim() ?? '').find((text) => text !== '') ?? null;
}
