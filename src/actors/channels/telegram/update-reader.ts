import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { rest } from '../../rest.ts';
import { DeliveryError } from '../channel-adapter.ts';
import type { TelegramClient } from './telegram-client.ts';
import {
  readUpdates,
  type TelegramClick,
  type TelegramMessage,
  type UpdatesReading,
} from './telegram-update.ts';

/** Long-polling time of `getUpdates`, in seconds. */
const heldFor = 30;

/** Additional time allowed for a response, in milliseconds. */
const allowance = 10_000;

/** Pause after an empty response that came at once, in milliseconds. */
const restlessness = 1_000;

/** Maximum failures of one message before it is skipped. */
const mostTries = 5;

export interface UpdateReaderOptions {
  client: TelegramClient;
  clock: Clock;
  log: Log;
}

/**
 * Handles one message; the returned function runs once Telegram has the acknowledgement. After a DeliveryError the
 * message is redelivered; after any other error only a few times.
 */
export type TakeMessage = (message: TelegramMessage) => Promise<(() => void) | null>;

/** The handlers of what arrives; `press` never rejects. */
export interface Takers {
  message: TakeMessage;
  press: (click: TelegramClick) => Promise<void>;
}

/**
 * Polls Telegram for new messages. The next poll acknowledges a message, so a message that was not handled is
 * redelivered and a handled one is not.
 */
export class UpdateReader {
  readonly #options: UpdateReaderOptions;
  /** Id of the first update to acknowledge; `null` until an update was handled. */
  #next: number | null = null;
  #afterwards: (() => void)[] = [];
  #failing: { id: number; times: number } = { id: -1, times: 0 };

  constructor(options: UpdateReaderOptions) {
    this.#options = options;
  }

  /** Reads until the signal aborts. Rejects with DeliveryError; the next call continues where this one ended. */
  async read(take: Takers, signal: AbortSignal): Promise<never> {
    const { clock } = this.#options;
    for (;;) {
      const timeout = this.#afterwards.length > 0 ? 0 : heldFor;
      const askedAt = clock.now();
      const found = readUpdates(await this.#ask(timeout, signal));
      for (const run of this.#afterwards.splice(0)) run();
      const isEmpty = found.updates.length === 0 && found.unreadable === 0;
      // After a week of silence Telegram may restart its numbering at a smaller number.
      if (isEmpty) this.#next = null;
      else await this.#takeAll(found, take, signal);
      const isEarly = timeout > 0 && clock.now() - askedAt < restlessness;
      if (isEmpty && isEarly) await rest(restlessness, clock, signal);
    }
  }

  #ask(timeout: number, signal: AbortSignal): Promise<unknown> {
    const offset = this.#next === null ? {} : { offset: this.#next };
    return this.#options.client.ask(
      'read new messages',
      (api, abort) =>
        api.getUpdates(
          { ...offset, timeout, allowed_updates: ['message', 'callback_query'] },
          abort,
        ),
      { signal, patience: timeout * 1_000 + allowance },
    );
  }

  async #takeAll(
    { updates, unreadable }: UpdatesReading,
    take: Takers,
    signal: AbortSignal,
  ): Promise<void> {
    const fresh = updates.filter(({ id }) => this.#next === null || id >= this.#next);
    if (fresh.length === 0) throw later('Telegram repeats updates, or its response cannot be read');
    if (unreadable > 0) {
      this.#options.log.warn({ unreadable }, 'telegram: skipped messages of an unknown form');
    }
    for (const { id, message, click } of fresh) {
      if (message !== null) await this.#take(id, message, take.message);
      if (click !== undefined) await take.press(click);
      this.#next = Math.max(this.#next ?? 0, id + 1);
      // The remaining updates are redelivered.
      signal.throwIfAborted();
    }
  }

  async #take(id: number, message: TelegramMessage, take: TakeMessage): Promise<void> {
    try {
      const afterwards = await take(message);
      if (afterwards !== null) this.#afterwards.push(afterwards);
    } catch (error) {
      if (error instanceof DeliveryError) throw error;
      const times = this.#failing.id === id ? this.#failing.times + 1 : 1;
      this.#failing = { id, times };
      this.#options.log.error({ error, times }, 'telegram: a message could not be accepted');
      if (times < mostTries) throw later('a message could not be accepted');
    }
  }
}

function later(why: string): DeliveryError {
  return new DeliveryError(`telegram: could not read new messages: ${why}`, { fault: 'later' });
}
