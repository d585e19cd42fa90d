import type { Log } from '../../ports.ts';
import type { TelegramRef } from './hear-message.ts';

/** Maximum waiting sentences; further ones are dropped, since such a sender writes only to get answers. */
const mostWaiting = 50;

export interface SentenceQueueOptions {
  say: (ref: TelegramRef, text: string) => Promise<void>;
  log: Log;
}

/** Sends the adapter's own sentences one by one; logs and drops one that fails. */
export class SentenceQueue {
  readonly #options: SentenceQueueOptions;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(options: SentenceQueueOptions) {
    this.#options = options;
  }

  /** Says something when its turn comes. */
  add(ref: TelegramRef, text: string): void {
    if (this.#waiting >= mostWaiting) return;
    this.#waiting += 1;
    this.#last = this.#last.then(() => this.#say(ref, text));
  }

  /** Resolves once nothing waits. */
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
