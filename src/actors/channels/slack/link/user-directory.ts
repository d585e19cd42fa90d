import type { UsersInfoResponse, WebClient } from '@slack/web-api';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { normaliseEmail } from '../../../../machines/governance/email.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import { pause } from '../../time-limit.ts';
import type { SlackEnvelope } from './slack-envelope.ts';
import { deliveryError, linkFault, slackCode } from './slack-failure.ts';

export interface UserDirectoryOptions {
  web: Pick<WebClient, 'users'>;
  clock: Clock;
  /**
   * The app's own workspace; users of other workspaces get no email. While it is `null`, strangers are not recognised.
   */
  self?: () => { teamId: string } | null;
  log?: Log;
}

/** A user of a workspace. */
export interface SlackPerson {
  name: string;
  /** In lower case; `null` if Slack verifies none. */
  email: string | null;
  /** True for bots and deactivated users, who may not decide. */
  isBarred?: true;
}

/** Returns the agent-wide id of a user, identical for requests and decisions. */
export function personId(teamId: string, userId: string): string {
  return `slack:${teamId}/${userId}`;
}

type SlackUser = NonNullable<UsersInfoResponse['user']>;

/** Cache lifetime of a look-up, in milliseconds. */
const knownFor = 60_000;

/** Default retry delay and maximum accepted delay in milliseconds, and maximum number of retries. */
const retries = { pause: 500, longest: 3_000, most: 2 };

/** Refusals of a user look-up that are transient; failures other than refusals are transient too. */
const passing: ReadonlySet<string | null> = new Set([
  null,
  'ratelimited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
]);

/** Looks up users; failures are not cached. */
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

  /** Drops the cached user after a change event from Slack. */
  forget(userId: string): void {
    this.#known.delete(userId);
    this.#underway.delete(userId);
  }

  /** Returns a user, cached for one minute. Retries transient refusals twice; rejects like the client. */
  async find(userId: string): Promise<SlackPerson> {
    const known = this.#known.get(userId);
    if (known !== undefined && this.#options.clock.now() < known.until) return known.person;
    const underway = this.#underway.get(userId);
    if (underway !== undefined) return underway;
    const lookup: Promise<SlackPerson> = this.#retried(userId).then((person) => {
      // A result that became outdated during the look-up is not cached.
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
        // The client has already retried network failures.
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

  /** An email of a bot, a deactivated user or a user of another workspace confers no authority. */
  #emailOf(user: SlackUser): string | null {
    if (isBarred(user) || user.is_email_confirmed === false || this.#isStranger(user)) return null;
    return normaliseEmail(user.profile?.email ?? '');
  }

  /** Another workspace vouches only for the emails of its own users. */
  #isStranger(user: SlackUser): boolean {
    const ours = this.#options.self?.()?.teamId;
    if (Reflect.get(user, 'is_stranger') === true) return true;
    if (ours === undefined || user.team_id === undefined) return false;
    return user.team_id !== ours && user.enterprise_user?.teams?.includes(ours) !== true;
  }

  /** Logs a look-up failure with its remedy once for each reason, not at each click. */
  noteFailure(error: unknown): void {
    const { message } = linkFault(error);
    if (this.#noted.has(message)) return;
    this.#noted.add(message);
    this.#options.log?.warn(
      { error: message },
      'slack: users cannot be looked up, so no email is available',
    );
  }
}

/** Returns whether a look-up failed for a transient reason, such as a rate limit of Slack. */
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

/** Returns the user id of a change event, such as a deactivation; `null` for any other envelope. */
export function readUserChange({
  type,
  body,
}: Pick<SlackEnvelope, 'type' | 'body'>): string | null {
  if (type !== 'events_api') return null;
  return userChange.safeParse(body).data?.event.user.id ?? null;
}
