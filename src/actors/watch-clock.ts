import type { AuditEvent } from './ports/audit-event.ts';
import type { Clock } from './ports/clock.ts';
import type { Log } from './ports/log.ts';

/** Interval at which the clocks are compared, in milliseconds. */
const compareEvery = 60_000;

/** Smallest difference that counts as a step rather than drift, in milliseconds. */
const smallestStep = 5_000;

export interface ClockWatch {
  /** Clock of tasks and their events. */
  clock: Clock;
  /** Returns epoch milliseconds of the wall clock. */
  wall?: () => number;
  record: (event: Pick<AuditEvent, 'event' | 'fields'>) => Promise<void>;
  log: Log;
}

/**
 * Compares the daemon's clock with the wall clock once a minute, and records and logs a step of either one: from then
 * on `ts` differs from the timestamps of other machines. Returns a function that stops it.
 */
export function watchClock({ clock, wall = Date.now, record, log }: ClockWatch): () => void {
  let told = 0;
  const compare = (): void => {
    const at = wall();
    const difference = at - clock.now();
    if (Math.abs(difference - told) >= smallestStep) {
      told = difference;
      tell({ difference_ms: difference, wall: new Date(at).toISOString() });
    }
    timer = clock.setTimeout(compare, compareEvery);
  };
  const tell = (fields: { difference_ms: number; wall: string }): void => {
    log.warn(
      fields,
      'clock: the wall clock was set; events keep the time the daemon started with, so restart it when that was wrong',
    );
    record({ event: 'clock_stepped', fields }).catch((error: unknown) => {
      log.error({ error }, 'clock: that it was set could not be recorded');
    });
  };
  let timer = clock.setTimeout(compare, compareEvery);
  return () => clock.clearTimeout(timer);
}
