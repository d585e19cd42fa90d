import type { Every } from '../actors/every.ts';
import { SimulatedClock } from './simulated-clock.ts';

interface Repeated {
  milliseconds: number;
  run: () => void;
  dueAt: number;
}

/** The time of an agent under test: a clock, and what is done now and then by it. */
export class SimulatedTime {
  readonly clock: SimulatedClock;
  readonly #repeated = new Set<Repeated>();

  constructor(now: number) {
    this.clock = new SimulatedClock(now);
  }

  /** Does something wherever the clock stops, once its time has come. */
  readonly every: Every = (milliseconds, run) => {
    const repeated = { milliseconds, run, dueAt: this.clock.now() + milliseconds };
    this.#repeated.add(repeated);
    return () => void this.#repeated.delete(repeated);
  };

  /** Moves on from timer to timer; at each `settle` lets what has come due happen. */
  async advance(milliseconds: number, settle: () => Promise<void>): Promise<void> {
    const until = this.clock.now() + milliseconds;
    await settle();
    while (this.clock.nextAt <= until) await this.#moveTo(this.clock.nextAt, settle);
    await this.#moveTo(until, settle);
  }

  async #moveTo(at: number, settle: () => Promise<void>): Promise<void> {
    this.clock.advance(Math.max(0, at - this.clock.now()));
    for (const repeated of [...this.#repeated]) {
      if (repeated.dueAt > this.clock.now()) continue;
      repeated.dueAt = this.clock.now() + repeated.milliseconds;
      repeated.run();
    }
    await settle();
  }
}
