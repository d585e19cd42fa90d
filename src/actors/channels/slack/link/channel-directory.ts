import type { WebClient } from '@slack/web-api';
import { LRUCache } from 'lru-cache';
import { normaliseEmail } from '../../../../machines/governance/email.ts';
import type { Clock } from '../../../ports/clock.ts';
import { DeliveryError } from '../../channel-adapter.ts';
import { PeopleByEmail } from './people-by-email.ts';
import { deliveryError } from './slack-failure.ts';

export interface ChannelDirectoryOptions {
  web: Pick<WebClient, 'conversations' | 'users'>;
  clock: Clock;
  /** Stores the channel that a name first resolved to; nothing is stored when absent. */
  names?: KeptNames;
}

/** Channel ids to which names first resolved. */
export interface KeptNames {
  find(name: string): Promise<string | undefined>;
  /** Stores the id of a name that has none. */
  keep(name: string, id: string): Promise<void>;
}

/** The channels with a name, cached until `until`. */
interface KnownChannels {
  ids: string[];
  /** Epoch milliseconds. */
  until: number;
}

const channelId = /^[CGD][A-Z0-9]{8,}$/;

/** Cache lifetime of a resolved name, in milliseconds. */
const foundFor = 3_600_000;

/** Cache lifetime of a name without a channel, in milliseconds. */
const absentFor = 60_000;

/** Maximum number of pages read; a page holds 200 channels. */
const mostPages = 200;

/** Resolves targets to channels; never guesses. */
export class ChannelDirectory {
  readonly #options: ChannelDirectoryOptions;
  readonly #known = new LRUCache<string, KnownChannels>({ max: 500 });
  readonly #underway = new Map<string, Promise<string[]>>();
  readonly people: PeopleByEmail;

  constructor(options: ChannelDirectoryOptions) {
    this.#options = options;
    this.people = new PeopleByEmail(options);
  }

  /**
   * Returns the channel id of a target that gives an id, a name with or without `#`, or a person as `@` and the email;
   * the id of a person is the channel of their direct messages. A name stays bound to the
   * channel it first resolved to, even if that channel is renamed. Rejects with a DeliveryError; its fault is `target`
   * if the name matches no channel, several channels, or a different channel than before.
   */
  async resolve(target: string): Promise<string> {
    const asked = target.trim();
    if (channelId.test(asked)) return asked;
    const person = personOf(asked);
    if (person !== null) return this.people.idOf(person);
    const name = asked.replace(/^#/, '').toLowerCase();
    if (name === '' || name === '*') {
      throw targetError('the target names no channel; write its name or id in "to"');
    }
    const kept = await this.#recalled(name);
    const [id = kept, ...others] = await this.#idsOf(name);
    if (id === undefined) {
      throw targetError(
        `no channel that the bot can see is called ${JSON.stringify(name)}; create it, or invite the bot if it is private`,
      );
    }
    if (others.length > 0) {
      const ids = [id, ...others].join(' and ');
      throw targetError(
        `more than one channel is called ${JSON.stringify(name)} (${ids}); write the id of one of them in "to"`,
      );
    }
    if (kept !== undefined && kept !== id) {
      throw targetError(
        `${JSON.stringify(name)} is a different channel (${id}) than before (${kept}), perhaps after a rename; set the id of the intended channel in "to"`,
      );
    }
    if (kept === undefined) await this.#keep(name, id);
    return id;
  }

  async #recalled(name: string): Promise<string | undefined> {
    try {
      return await this.#options.names?.find(name);
    } catch (error) {
      throw storeError(name, error);
    }
  }

  async #keep(name: string, id: string): Promise<void> {
    try {
      await this.#options.names?.keep(name, id);
    } catch (error) {
      throw storeError(name, error);
    }
  }

  async #idsOf(name: string): Promise<string[]> {
    const known = this.#known.get(name);
    if (known !== undefined && this.#options.clock.now() < known.until) return known.ids;
    const underway = this.#underway.get(name);
    if (underway !== undefined) return underway;
    const lookup = this.#lookUp(name).finally(() => this.#underway.delete(name));
    this.#underway.set(name, lookup);
    return lookup;
  }

  async #lookUp(name: string): Promise<string[]> {
    const ids = await this.#read(name);
    const until = this.#options.clock.now() + (ids.length > 0 ? foundFor : absentFor);
    this.#known.set(name, { ids, until });
    return ids;
  }

  async #read(name: string): Promise<string[]> {
    const ids = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < mostPages; page += 1) {
      const { channels, next } = await this.#page(cursor);
      for (const channel of channels) {
        if (channel.id !== undefined && channel.name?.toLowerCase() === name) ids.add(channel.id);
      }
      if (next === '' || next === cursor) return [...ids];
      cursor = next;
    }
    throw targetError('the workspace has too many channels to search; set the channel id in "to"');
  }

  async #page(cursor: string | undefined) {
    const { conversations } = this.#options.web;
    try {
      const { channels = [], response_metadata } = await conversations.list({
        types: 'public_channel,private_channel',
        exclude_archived: true,
        limit: 200,
        ...(cursor === undefined ? {} : { cursor }),
      });
      return { channels, next: response_metadata?.next_cursor ?? '' };
    } catch (error) {
      throw deliveryError(error, 'looking up the channel');
    }
  }
}

/** Returns the email of a target `@ann@example.com`; `null` for a channel. */
export function personOf(target: string): string | null {
  return target.startsWith('@') ? normaliseEmail(target.slice(1)) : null;
}

function targetError(words: string): DeliveryError {
  return new DeliveryError(`slack: ${words}`, { fault: 'target' });
}

function storeError(name: string, cause: unknown): DeliveryError {
  const words = `the store failed to look up the channel ${JSON.stringify(name)}; retrying`;
  return new DeliveryError(`slack: ${words}`, { fault: 'later', cause });
}
