import type { Clock } from '../actors/ports.ts';

interface Timer {
  at: number;
  run: () => void;
}

/** A clock that stands still until a test moves it, with timers on its own scale. */
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

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** When the next timer ends, in epoch milliseconds; never when none is set. */
  get nextAt(): number {
    return Math.min(...[...this.#timers.values()].map(({ at }) => at));
  }

  /** Moves on, and ends every timer on the way at its own time. */
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

  /** Moves on while no timer runs, as on a machine that sleeps; a negative time moves back. */
  jump(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** Ends every timer that is set, whatever its time is, as timers that fire too early do. */
  fireEarly(): void {
    const early = [...this.#timers];
    for (const [handle, { run }] of early) if (this.#timers.delete(handle)) run();
  }

  #nextUntil(until: number): [number, Timer] | undefined {
    const due = [...this.#timers].filter(([, { at }]) => at <= until);
    return due.toSorted(([, one], [, other]) => one.at - other.at)[0];
  }
}
