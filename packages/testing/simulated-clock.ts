import type { Clock } from '../../src/actors/ports/clock.ts';

interface Timer {
  at: number;
  run: () => void;
}

/** A clock that only advances when a test advances it, with timers on its own time scale. */
export class SimulatedClock implements Clock {
  #now: number;
  #last = 0;
  readonly #timers = new Map<number, Timer>();

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(run: () => void, milliseconds: number): unknown {
    this.#last += 1;
    this.#timers.set(this.#last, { at: this.#now + Math.max(0, milliseconds), run });
    return this.#last;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  /** The number of active timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Epoch milliseconds of the next timer; infinite if there is none. */
  get nextAt(): number {
    return Math.min(...[...this.#timers.values()].map(({ at }) => at));
  }

  /** Advances the clock and fires every timer on the way at its own time. */
  advance(milliseconds: number): void {
    const until = this.#now + milliseconds;
    for (let next = this.#nextUntil(until); next !== undefined; next = this.#nextUntil(until)) {
      const [handle, { at, run }] = next;
      this.#timers.delete(handle);
      this.#now = Math.max(this.#now, at);
      run();
    }
    this.#now = until;
  }

  /** Changes the time without firing timers, like a sleeping machine; a negative value goes back. */
  jump(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** Fires all active timers regardless of their time, like timers that fire too early. */
  fireEarly(): void {
    const early = [...this.#timers];
    for (const [handle, { run }] of early) if (this.#timers.delete(handle)) run();
  }

  #nextUntil(until: number): [number, Timer] | undefined {
    const due = [...this.#timers].filter(([, { at }]) => at <= until);
    return due.toSorted(([, one], [, other]) => one.at - other.at)[0];
  }
}
