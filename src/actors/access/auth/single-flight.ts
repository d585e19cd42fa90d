import { hash } from 'node:crypto';

/** Shares one request among equal questions, and bounds how many are under way. */
export class SingleFlight<Answer> {
  readonly #flights = new Map<string, Promise<Answer>>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** True while as many questions are under way as may be. */
  get isFull(): boolean {
    return this.#flights.size >= this.#most;
  }

  /** Resolves with the answer to the question of this key that is under way, or asks it. */
  ask(key: string, question: () => Promise<Answer>): Promise<Answer> {
    const underway = this.#flights.get(key);
    if (underway !== undefined) return underway;
    const flight = question().finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return flight;
  }
}

/** Returns a digest that names a credential without keeping it. */
export function fingerprintOf(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
