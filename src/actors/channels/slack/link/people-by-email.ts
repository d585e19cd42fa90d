import type { WebClient } from '@slack/web-api';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../ports/clock.ts';
import { DeliveryError } from '../../channel-adapter.ts';
import { deliveryError, slackCode } from './slack-failure.ts';

export interface PeopleByEmailOptions {
  web: Pick<WebClient, 'users'>;
  clock: Clock;
}

const userId = /^[UW][A-Z0-9]{2,}$/;

/** Cache lifetime of a look-up, in milliseconds. */
const knownFor = 60_000;

/** Finds active people of the workspace by their email. */
export class PeopleByEmail {
  readonly #options: PeopleByEmailOptions;
  readonly #known = new LRUCache<string, { id: string; until: number }>({ max: 1_000 });

  constructor(options: PeopleByEmailOptions) {
    this.#options = options;
  }

  /** Returns the user id of a person. Rejects with a DeliveryError; its fault is `target` if Slack has no such person. */
  async idOf(email: string): Promise<string> {
    const { clock } = this.#options;
    const known = this.#known.get(email);
    if (known !== undefined && clock.now() < known.until) return known.id;
    const id = await this.#lookUp(email);
    this.#known.set(email, { id, until: clock.now() + knownFor });
    return id;
  }

  async #lookUp(email: string): Promise<string> {
    try {
      const { user } = await this.#options.web.users.lookupByEmail({ email });
      const isActive = user?.deleted !== true && user?.is_bot !== true;
      if (isActive && user?.id !== undefined && userId.test(user.id)) return user.id;
    } catch (error) {
      if (slackCode(error) !== 'users_not_found') throw deliveryError(error, 'looking up a person');
    }
    throw new DeliveryError(
      `slack: no one in the workspace has the email ${email}; correct it, or ask in a channel`,
      { fault: 'target' },
    );
  }
}
