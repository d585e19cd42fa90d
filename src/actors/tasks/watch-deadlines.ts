import { fromCallback } from 'xstate';
import type { DeadlineEvent } from '../../machines/registry/registry-machine.ts';
import type { Clock, Log } from '../ports.ts';
import type { TaskRows } from '../records/records.ts';

/** What watching the deadlines of tasks needs. */
export interface WatchDeadlinesPorts {
  rows: TaskRows;
  clock: Clock;
  log: Log;
  /** Tells a task that its deadline has come, bringing it to life when it is at rest. */
  wake: (id: string) => void;
}

/** Pause after the store failed, in milliseconds. */
const storePause = 5_000;

/** Tasks woken in one turn of the event loop, so that requests are served in between. */
const wokenAtOnce = 25;

/** Fills the `watchDeadlines` port: one timer to the earliest deadline in the store, however many tasks wait. */
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
    /** Looks once at a time: of many that are due at once each look would wake all. */
    const watch = async (): Promise<void> => {
      while (!isStopped) {
        clock.clearTimeout(timer);
        // One that becomes known while it looks may be nearer than all in the store.
        dueAt = Number.POSITIVE_INFINITY;
        await look().catch((error: unknown) => {
          log.error({ error }, 'tasks: the deadlines cannot be read; they are looked for again');
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
