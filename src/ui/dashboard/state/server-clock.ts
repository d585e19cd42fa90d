import { createSubscriber } from 'svelte/reactivity';

/**
 * The server's clock, used for deadlines because the local clock may be wrong. Reading `now` in a component re-renders
 * it every second.
 */
export class ServerClock {
  #offset: number | null = null;
  readonly #tick = createSubscriber((changed) => {
    const timer = setInterval(changed, 1_000);
    return () => clearInterval(timer);
  });

  /** @param at the server's time in epoch milliseconds */
  heard(at: number): void {
    const offset = at - Date.now();
    // The header has a resolution of whole seconds, so smaller differences are ignored.
    if (this.#offset === null || Math.abs(offset - this.#offset) > 1_500) this.#offset = offset;
  }

  /** The time of the server in epoch milliseconds. */
  get now(): number {
    this.#tick();
    return Date.now() + (this.#offset ?? 0);
  }
}
