import { vi } from 'vitest';
import { prompt } from './patient.ts';

/** A peer that answers when a test lets it. */
export class HeldAnswers<Answer> {
  #waiting: PromiseWithResolvers<Answer>[] = [];

  /** Resolves with what the test answers next. */
  ask(): Promise<Answer> {
    const asked = Promise.withResolvers<Answer>();
    this.#waiting.push(asked);
    return asked.promise;
  }

  /** Answers all waiting calls, as soon as one waits. */
  async answer(answer: Answer): Promise<void> {
    for (const { resolve } of await this.#asked()) resolve(answer);
  }

  /** Fails all waiting calls, as soon as one waits. */
  async fail(error: Error): Promise<void> {
    for (const { reject } of await this.#asked()) reject(error);
  }

  /** Answers those who wait by now. */
  release(answer: Answer): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(answer);
  }

  #asked(): Promise<PromiseWithResolvers<Answer>[]> {
    return vi.waitUntil(() => {
      const waiting = this.#waiting.splice(0);
      return waiting.length > 0 && waiting;
    }, prompt);
  }
}
