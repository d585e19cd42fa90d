import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../ports/clock.ts';

/** Maximum number of remembered deliveries, and their lifetime in milliseconds; Slack redelivers within minutes. */
const limits = { max: 10_000, ttl: 3_600_000 };

/** Answers to deliveries that Slack may repeat, indexed by the delivery's ids. */
export class RecentArrivals<Answer> {
  readonly #answers: LRUCache<string, Promise<Answer>>;

  constructor(clock: Clock) {
    this.#answers = new LRUCache({ ...limits, ttlResolution: 0, perf: clock });
  }

  /** Returns the answer to a delivery with one of these ids; `undefined` for a new delivery. */
  find(names: readonly string[]): Promise<Answer> | undefined {
    for (const name of names) {
      const answer = this.#answers.get(name);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  /** Remembers an answer, which may still be pending. */
  remember(names: readonly string[], answer: Promise<Answer>): void {
    for (const name of names) this.#answers.set(name, answer);
  }

  /** Forgets a delivery, so that it can be retried. */
  forget(names: readonly string[]): void {
    for (const name of names) this.#answers.delete(name);
  }
}
