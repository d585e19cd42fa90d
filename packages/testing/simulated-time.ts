import type { Every } from '../../src/actors/every.ts';
import { SimulatedClock } from './simulated-clock.ts';

interface Repeated {
  milliseconds: number;
  run: () => void;
  dueAt: number;
}

/** The simulated time of an agent under test: a clock, and periodic callbacks. */
export class SimulatedTime {
  readonly clock: SimulatedClock;
  readonly #repeated = new Set<Repeated>();

  constructor(now: number) {
    this.clock = new SimulatedClock(now);
  }

  /** Registers a periodic callback, run whenever the clock stops after its time has come. */
  readonly every: Every = (milliseconds, run) => {
    const repeated = { milliseconds, run, dueAt: this.clock.now() + milliseconds };
    this.#repeated.add(repeated);
    return () => void this.#repeated.delete(repeated);
  };

  /** Advances the clock from timer to timer; calls `settle` at each stop so that due actions can happen. */
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
