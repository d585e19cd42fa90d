import { createSubscriber } from 'svelte/reactivity';

/**
 * The clock of the server: deadlines are counted by it, as the clock of this machine may be wrong. Whoever reads `now`
 * in a component is drawn again each second.
 */
export class ServerClock {
  #offset: number | null = null;
  readonly #tick = createSubscriber((changed) => {
    const timer = setInterval(changed, 1_000);
    return () => clearInterval(timer);
  });

  /** @param at what the server says the time is, in epoch milliseconds */
  heard(at: number): void {
    const offset = at - Date.now();
    // A header has whole seconds, so a smaller difference says nothing.
    if (this.#offset === null || Math.abs(offset - this.#offset) > 1_500) this.#offset = offset;
  }

  /** The time of the server in epoch milliseconds. */
  get now(): number {
    this.#tick();
    return Date.now() + (this.#offset ?? 0);
  }
}
