import { fromCallback } from 'xstate';
import type { DeadlineEvent } from '../../machines/registry/registry-machine.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { TaskRows } from '../records/records.ts';

export interface WatchDeadlinesPorts {
  rows: TaskRows;
  clock: Clock;
  log: Log;
  /** Notifies a task of its deadline; reloads the task if necessary. */
  wake: (id: string) => void;
}

/** Pause after a store failure, in milliseconds. */
const storePause = 5_000;

/** Maximum tasks woken per event-loop turn, so that requests are handled in between. */
const wokenAtOnce = 25;

/**
 * Creates the `watchDeadlines` port: a single timer for the earliest deadline in the store, however many tasks wait.
 */
export function createWatchDeadlines({ rows, clock, log, wake }: WatchDeadlinesPorts) {
  return fromCallback<DeadlineEvent>(({ receive }) => {
    let timer: unknown = null;
    let dueAt = Number.POSITIVE_INFINITY;
    let ring = (): void => undefined;
    let isStopped = false;

    const setAlarm = (at: number): void => {
      if (at >= dueAt || isStopped) return;
      clock.clearTimeout(timer);
      dueAt = at;
      timer = clock.setTimeout(() => ring(), at - clock.now());
    };
    const alarm = (): Promise<void> =>
      new Promise((resolve) => {
        ring = resolve;
        if (dueAt <= clock.now()) resolve();
      });
    const look = async (): Promise<void> => {
      const now = clock.now();
      const ids = await rows.overdue(now);
      for (let first = 0; first < ids.length && !isStopped; first += wokenAtOnce) {
        for (const id of ids.slice(first, first + wokenAtOnce)) wake(id);
        await new Promise((next) => setImmediate(next));
      }
      const next = await rows.nextDeadline(now);
      if (next !== null) setAlarm(next);
    };
    /** Runs one scan at a time; overlapping scans would wake the same tasks twice. */
    const watch = async (): Promise<void> => {
      while (!isStopped) {
        clock.clearTimeout(timer);
        // A deadline reported during the scan may be earlier than all in the store.
        dueAt = Number.POSITIVE_INFINITY;
        await look().catch((error: unknown) => {
          log.error({ error }, 'tasks: the deadlines cannot be read; retrying');
          setAlarm(clock.now() + storePause);
        });
        await alarm();
      }
    };

    receive(({ at }) => setAlarm(at));
    void watch();
    return () => {
      isStopped = true;
      clock.clearTimeout(timer);
    };
  });
}
