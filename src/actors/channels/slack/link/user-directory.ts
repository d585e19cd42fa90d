import type { UsersInfoResponse, WebClient } from '@slack/web-api';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { normaliseEmail } from '../../../../machines/governance/email.ts';
import type { Clock, Log } from '../../../ports.ts';
import { pause } from '../../time-limit.ts';
import type { SlackEnvelope } from './slack-envelope.ts';
import { deliveryError, linkFault, slackCode } from './slack-failure.ts';

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
const knownFor = 60_000;

/** Milliseconds before a look-up is tried again where Slack does not say, the most that it may ask for, and tries more. */
const retries = { pause: 500, longest: 3_000, most: 2 };

/** Slack's refusals of a user look-up that are transient, like any failure that is no refusal. */
const passing: ReadonlySet<string | null> = new Set([
  null,
  'ratelimited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
]);

/** Looks up users; caches no failure. */
export class UserDirectory {
  readonly #options: UserDirectoryOptions;
  readonly #known = new LRUCache<string, { person: SlackPerson; until: number }>({ max: 1_000 });
  readonly #underway = new Map<string, Promise<SlackPerson>>();
  readonly #noted = new Set<string>();

  constructor(options: UserDirectoryOptions) {
    this.#options = options;
  }

  /** Returns the user of an id; a failed look-up counts as a user without an email. Never rejects. */
  async person(userId: string): Promise<SlackPerson> {
    try {
      return await this.find(userId);
    } catch (error) {
      this.noteFailure(error);
      return { name: userId, email: null };
    }
  }

  /** Forgets what was found, as Slack says that it changed. */
  forget(userId: string): void {
    this.#known.delete(userId);
    this.#underway.delete(userId);
  }

  /**
   * Returns the user of an id, as found within the last minute. What Slack refuses for a passing reason is asked again twice;
   * rejects as the client does.
   */
  async find(userId: string): Promise<SlackPerson> {
    const known = this.#known.get(userId);
    if (known !== undefined && this.#options.clock.now() < known.until) return known.person;
    const underway = this.#underway.get(userId);
    if (underway !== undefined) return underway;
    const lookup: Promise<SlackPerson> = this.#retried(userId).then((person) => {
      // What changed meanwhile is not kept.
      if (this.#underway.get(userId) === lookup) {
        this.#known.set(userId, { person, until: this.#options.clock.now() + knownFor });
      }
      return person;
    });
    this.#underway.set(userId, lookup);
    const over = (): void => {
      if (this.#underway.get(userId) === lookup) this.#underway.delete(userId);
    };
    lookup.then(over, over);
    return lookup;
  }

  async #retried(userId: string): Promise<SlackPerson> {
    const { clock } = this.#options;
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#lookUp(userId);
      } catch (error) {
        const { retryAfter } = linkFault(error);
        const rest = retryAfter ?? retries.pause;
        // What broke on the way was tried again by the client already.
        const isRefused = retryAfter !== null || slackCode(error) !== null;
        const isOver = tries >= retries.most || rest > retries.longest;
        if (!isRefused || !isPassing(error) || isOver) throw error;
        await pause(clock, rest);
      }
    }
  }

  async #lookUp(userId: string): Promise<SlackPerson> {
    const { user } = await this.#options.web.users.info({ user: userId });
    if (user?.id !== userId) return { name: userId, email: null };
    return {
      name: nameOf(user) ?? userId,
      email: this.#emailOf(user),
      ...(isBarred(user) && { isBarred: true as const }),
    };
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

  /** Says once for each reason that people cannot be looked up, with the remedy, not at each click. */
  noteFailure(error: unknown): void {
    const { message } = linkFault(error);
    if (this.#noted.has(message)) return;
    this.#noted.add(message);
    this.#options.log?.warn(
      { error: message },
      'slack: people cannot be looked up, so nobody is known by email',
    );
  }
}

/** Tells whether a look-up failed for a passing reason, such as a rate limit of Slack. */
export function isPassing(error: unknown): boolean {
  return (
    deliveryError(error, 'looking up a person').fault === 'later' && passing.has(slackCode(error))
  );
}

function isBarred({ id, deleted, is_bot: isBot }: SlackUser): boolean {
  return deleted === true || isBot === true || id === 'USLACKBOT';
}

function nameOf({ profile, real_name: realName, name }: SlackUser): string | null {
  const names = [profile?.display_name, profile?.real_name, realName, name];
  return names.map((text) => text?.trim() ?? '').find((text) => text !== '') ?? null;
}

const userChange = z.object({
  event: z.object({ type: z.literal('user_change'), user: z.object({ id: z.string() }) }),
});

/** Returns the user that Slack says has changed, such as by a deactivation; `null` for any other envelope. */
export function readUserChange({
  type,
  body,
}: Pick<SlackEnvelope, 'type' | 'body'>): string | null {
  if (type !== 'events_api') return null;
  return userChange.safeParse(body).data?.event.user.id ?? null;
}
