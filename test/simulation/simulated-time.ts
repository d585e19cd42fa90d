import FakeTimers from '@sinonjs/fake-timers';
import type { Clock } from '../../src/actors/ports/clock.ts';
import type { Chance } from '../helpers/chance.ts';

/** 2026-07-01T09:00:00.000Z, when every simulation begins. */
const nine = Date.UTC(2026, 6, 1, 9);

/**
 * Time and chance of this process, simulated until `remove`: dates, timers, intervals, readings of performance and
 * `Math.random`. Turns of the event loop stay real, as their order is certain.
 */
export class SimulatedTime {
  readonly #fake: FakeTimers.Clock;
  readonly #timeout = AbortSignal.timeout;
  readonly #random = Math.random;

  constructor(chance: Chance) {
    this.#fake = FakeTimers.install({
      now: nine,
      toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
      loopLimit: 100_000,
    });
    Math.random = () => chance.next();
    AbortSignal.timeout = (milliseconds) => {
      const controller = new AbortController();
      const late = () => controller.abort(new DOMException('it took too long', 'TimeoutError'));
      setTimeout(late, milliseconds);
      return controller.signal;
    };
  }

  /** The clock of the daemon. */
  get clock(): Clock {
    return {
      now: () => Date.now(),
      setTimeout: (run, milliseconds) => setTimeout(run, Math.min(milliseconds, 2_147_483_647)),
      clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
    };
  }

  /** Lets time pass, and ends every timer on the way. */
  pass(milliseconds: number): void {
    this.#fake.tick(milliseconds);
  }

  /** Forgets every timer, as the end of a process does. */
  forgetTimers(): void {
    const at = this.#fake.now;
    this.#fake.reset();
    this.#fake.setSystemTime(at);
  }

  /** Gives the process its own time back. */
  remove(): void {
    this.#fake.uninstall();
    Math.random = this.#random;
    AbortSignal.timeout = this.#timeout;
  }
}
