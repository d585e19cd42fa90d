import { uptime } from 'node:os';
import type { Clock } from './ports/clock.ts';

/** Maximum delay of a Node timer; a longer one would fire at once. */
const longestDelay = 2 ** 31 - 1;

/** Interval at which the time since boot is read, in milliseconds. */
const lookEvery = 1_000;

/**
 * The clock of this machine: the wall-clock time at start plus the time since boot. Changes of the wall clock do not
 * affect it, and it continues while a laptop sleeps.
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
      // A difference below one second is the coarse resolution of the time since boot, not sleep.
      return Math.round(wallAtStart + running - startedAt + (slept < 1_000 ? 0 : slept));
    },
    setTimeout: (run, milliseconds) =>
      setTimeout(run, Math.min(Math.max(0, milliseconds), longestDelay)),
    clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
  };
}
