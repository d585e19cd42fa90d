import { hash } from 'node:crypto';

/** Shares one request among callers with the same key, and limits concurrent requests. */
export class SingleFlight<Answer> {
  readonly #flights = new Map<string, Promise<Answer>>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** True when the maximum number of concurrent requests is reached. */
  get isFull(): boolean {
    return this.#flights.size >= this.#most;
  }

  /** Joins the running request of this key, or starts one, and resolves with its answer. */
  ask(key: string, question: () => Promise<Answer>): Promise<Answer> {
    const underway = this.#flights.get(key);
    if (underway !== undefined) return underway;
    const flight = question().finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return flight;
  }
}

/** Returns a digest that identifies a credential without storing it. */
export function fingerprintOf(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
