import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../ports.ts';

/** Most arrivals that are remembered, and for how many milliseconds; Slack repeats itself within minutes. */
const limits = { max: 10_000, ttl: 3_600_000 };

/** Answers to deliveries that Slack may repeat, each under the names that identify it. */
export class RecentArrivals<Answer> {
  readonly #answers: LRUCache<string, Promise<Answer>>;

  constructor(clock: Clock) {
    this.#answers = new LRUCache({ ...limits, ttlResolution: 0, perf: clock });
  }

  /** Returns the answer to a delivery with one of these names; `undefined` for a new one. */
  find(names: readonly string[]): Promise<Answer> | undefined {
    for (const name of names) {
      const answer = this.#answers.get(name);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  /** Remembers an answer, which need not be known yet. */
  remember(names: readonly string[], answer: Promise<Answer>): void {
    for (const name of names) this.#answers.set(name, answer);
  }

  /** Makes something new again, so that it may be tried once more. */
  forget(names: readonly string[]): void {
    for (const name of names) this.#answers.delete(name);
  }
}
