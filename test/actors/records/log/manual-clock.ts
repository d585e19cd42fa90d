import type { Clock } from '../../../../src/actors/ports/clock.ts';

/** A clock whose only timer fires when a test lets it; a test can wait until a timer exists. */
export class ManualClock implements Clock {
  #run: (() => void) | null = null;
  #awaited = Promise.withResolvers<void>();

  now(): number {
    return 0;
  }

  setTimeout(run: () => void): unknown {
    this.#run = run;
    this.#awaited.resolve();
    return run;
  }

  clearTimeout(handle: unknown): void {
    if (handle === this.#run) this.#run = null;
  }

  /** True while a timer is set. */
  get isWaiting(): boolean {
    return this.#run !== null;
  }

  /** Resolves as soon as a timer is set. */
  async waiting(): Promise<void> {
    await this.#awaited.promise;
  }

  /** Ends the timer that is set. */
  tick(): void {
    this.#awaited = Promise.withResolvers<void>();
    this.#run?.();
  }
}
