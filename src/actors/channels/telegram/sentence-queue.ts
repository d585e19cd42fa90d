import type { Log } from '../../ports/log.ts';
import type { TelegramRef } from './hear-message.ts';

/** Maximum queued replies; further ones are dropped, since such a sender only wants to provoke replies. */
const mostWaiting = 50;

export interface SentenceQueueOptions {
  say: (ref: TelegramRef, text: string) => Promise<void>;
  log: Log;
}

/** Sends the adapter's own replies one by one; logs and drops a failed one. */
export class SentenceQueue {
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
