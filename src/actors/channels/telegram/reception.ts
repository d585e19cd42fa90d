import { LRUCache } from 'lru-cache';
import type { Log } from '../../ports/log.ts';
import { DeliveryError } from '../channel-adapter.ts';
import type { ChatMessage } from '../conversation-port.ts';
import { hearMessage, type TelegramRef, type TelegramSelf } from './hear-message.ts';
import type { TelegramMessage } from './telegram-update.ts';

/** Maximum queued replies; further ones are dropped, since such a sender only wants to provoke replies. */
const mostWaiting = 50;

interface SentenceQueueOptions {
  say: (ref: TelegramRef, text: string) => Promise<void>;
  log: Log;
}

/** Sends the adapter's own replies one by one; logs and drops a failed one. */
class SentenceQueue {
  readonly #options: SentenceQueueOptions;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(options: SentenceQueueOptions) {
    this.#options = options;
  }

  /** Queues a reply. */
  add(ref: TelegramRef, text: string): void {
    if (this.#waiting >= mostWaiting) return;
    this.#waiting += 1;
    this.#last = this.#last.then(() => this.#say(ref, text));
  }

  /** Resolves once the queue is empty. */
  async ended(): Promise<void> {
    await this.#last;
  }

  async #say(ref: TelegramRef, text: string): Promise<void> {
    const { say, log } = this.#options;
    try {
      await say(ref, text);
    } catch (error) {
      const { message } = error as Error;
      log.warn({}, message);
    } finally {
      this.#waiting -= 1;
    }
  }
}

/** Receives messages; resolves with `false` for a message that could not be stored and must be redelivered. */
export interface Listener {
  receive(message: ChatMessage): Promise<boolean>;
}

export interface ReceptionOptions {
  /** Stores messages; with `null`, messages are ignored. */
  conversations: Listener | null;
  /** User ids or names; `null` for everybody. */
  allowedUsers: readonly string[] | null;
  /** Verified emails of people, by their id. */
  people: Readonly<Record<string, string>>;
  say: (ref: TelegramRef, text: string) => Promise<void>;
  log: Log;
}

/** Maximum remembered users who were already notified that they are not on the list. */
const mostRefused = 1_000;

/** Maximum remembered albums; each picture of an album is a separate message. */
const mostAlbums = 100;

/** Passes requests to the agent, and answers other messages itself. */
export class Reception {
  readonly #options: ReceptionOptions;
  readonly #sentences: SentenceQueue;
  readonly #refused = new LRUCache<string, true>({ max: mostRefused });
  readonly #albums = new LRUCache<string, true>({ max: mostAlbums });

  constructor(options: ReceptionOptions) {
    this.#options = options;
    this.#sentences = new SentenceQueue(options);
  }

  /**
   * Stores a message. Run the returned function once Telegram can no longer redeliver the message. Rejects with
   * DeliveryError if the message cannot be stored, such as while the agent stops.
   */
  async take(message: TelegramMessage, self: TelegramSelf): Promise<(() => void) | null> {
    const { conversations, allowedUsers, people } = this.#options;
    if (conversations === null || this.#isMoreOfAlbum(message)) return null;
    const heard = hearMessage(message, { self, allowedUsers, people });
    if (heard === null) return null;
    if (heard.kind === 'task') {
      if (!(await conversations.receive(heard.message))) throw closed();
      return null;
    }
    if (heard.kind === 'refusal') {
      if (this.#refused.has(heard.person)) return null;
      this.#refused.set(heard.person, true);
    }
    return () => this.#sentences.add(heard.ref, heard.text);
  }

  /** Returns whether the album was already handled with another of its pictures and this one adds no caption. */
  #isMoreOfAlbum({ media_group_id: album, caption }: TelegramMessage): boolean {
    if (album === undefined) return false;
    const isKnown = this.#albums.has(album);
    this.#albums.set(album, true);
    return isKnown && caption === undefined;
  }

  /** Resolves once all queued replies are sent. */
  ended(): Promise<void> {
    return this.#sentences.ended();
  }
}

function closed(): DeliveryError {
  return new DeliveryError('telegram: a message was rejected: the agent accepts none now', {
    fault: 'later',
  });
}
