import { hash } from 'node:crypto';

/** Joins equal questions that are asked at once, and bounds how many are asked at all. */
export class SingleFlight<Answer> {
  readonly #flights = new Map<string, Promise<Answer>>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** True while no further question can be asked. */
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

/** Names a credential without keeping it. */
export function fingerprintOf(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
