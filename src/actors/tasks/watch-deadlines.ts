import { fromCallback } from 'xstate';
import type { DeadlineEvent } from '../../machines/registry/registry-machine.ts';
import type { Clock } from '../ports.ts';
import type { TaskRows } from '../records/records.ts';

/** What watching the deadlines of tasks needs. */
export interface WatchDeadlinesPorts {
  rows: TaskRows;
  clock: Clock;
  /** Tells a task that its deadline has come, bringing it to life when it is at rest. */
  wake: (id: string) => void;
}

/** Tasks woken in one turn of the event loop, so that requests are served in between. */
const wokenAtOnce = 100;

/** Fills the `watchDeadlines` port: one timer to the earliest deadline in the store, however many tasks wait. */
export function createWatchDeadlines({ rows, clock, wake }: WatchDeadlinesPorts) {
  return fromCallback<DeadlineEvent>(({ receive }) => {
    let timer: unknown = null;
    let dueAt = Number.POSITIVE_INFINITY;
    let stopped = false;

    const sleepUntil = (at: number): void => {
      clock.clearTimeout(timer);
      dueAt = at;
      timer = clock.setTimeout(wakeOverdue, at - clock.now());
    };
    const wakeSome = (ids: string[]): void => {
      if (stopped) return;
      for (const id of ids.slice(0, wokenAtOnce)) wake(id);
      const rest = ids.slice(wokenAtOnce);
      if (rest.length > 0) setImmediate(wakeSome, rest);
    };
    const wakeOverdue = (): void => {
      const now = clock.now();
      wakeSome(rows.overdue(now));
      const next = rows.nextDeadline(now);
      dueAt = Number.POSITIVE_INFINITY;
      if (next !== null) sleepUntil(next);
    };

    receive(({ at }) => {
      if (at < dueAt) sleepUntil(at);
    });
    wakeOverdue();
    return () => {
      stopped = true;
      clock.clearTimeout(timer);
    };
  });
}
