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
const wokenAtOnce = 100;

/** Fills the `watchDeadlines` port: one timer to the earliest deadline in the store, however many tasks wait. */
export function createWatchDeadlines({ rows, clock, log, wake }: WatchDeadlinesPorts) {
  return fromCallback<DeadlineEvent>(({ receive }) => {
    let timer: unknown = null;
    let dueAt = Number.POSITIVE_INFINITY;
    let stopped = false;

    const sleepUntil = (at: number): void => {
      clock.clearTimeout(timer);
      dueAt = at;
      timer = clock.setTimeout(look, at - clock.now());
    };
    const wakeSome = (ids: string[]): void => {
      if (stopped) return;
      for (const id of ids.slice(0, wokenAtOnce)) wake(id);
      const rest = ids.slice(wokenAtOnce);
      if (rest.length > 0) setImmediate(wakeSome, rest);
    };
    const wakeOverdue = async (): Promise<void> => {
      const now = clock.now();
      dueAt = Number.POSITIVE_INFINITY;
      wakeSome(await rows.overdue(now));
      const next = await rows.nextDeadline(now);
      // One that became known meanwhile may be nearer.
      if (next !== null && next < dueAt && !stopped) sleepUntil(next);
    };

    const look = (): void => {
      wakeOverdue().catch((error: unknown) => {
        log.error({ error }, 'tasks: the deadlines cannot be read; they are looked for again');
        if (!stopped) sleepUntil(clock.now() + storePause);
      });
    };

    receive(({ at }) => {
      if (at < dueAt) sleepUntil(at);
    });
    look();
    return () => {
      stopped = true;
      clock.clearTimeout(timer);
    };
  });
}
