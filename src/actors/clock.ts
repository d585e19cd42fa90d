import { uptime } from 'node:os';
import type { Clock } from './ports.ts';

/** The longest delay a timer of Node takes; a longer one would fire at once. */
const longestDelay = 2 ** 31 - 1;

/** How often the time since boot is asked for, in milliseconds. */
const lookEvery = 1_000;

/**
 * The clock of this machine: the wall-clock time at start, carried on by the time since boot.
 * No change of the wall clock moves it, and it goes on while a laptop sleeps.
 */
export function systemClock(): Clock {
  const wallAtStart = Date.now();
  const startedAt = performance.now();
  const sleptAtStart = uptime() * 1_000 - startedAt;
  let slept = 0;
  let lookedAt = startedAt;
  return {
    now() {
      const running = performance.now();
      if (running - lookedAt >= lookEvery) {
        lookedAt = running;
        slept = Math.max(slept, uptime() * 1_000 - running - sleptAtStart);
      }
      // Below a second it is the coarse grain of the time since boot, not sleep.
      return Math.round(wallAtStart + running - startedAt + (slept < 1_000 ? 0 : slept));
    },
    setTimeout: (run, milliseconds) =>
      setTimeout(run, Math.min(Math.max(0, milliseconds), longestDelay)),
    clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
  };
}
