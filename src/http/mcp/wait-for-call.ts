import type { Clock } from '../../actors/ports/clock.ts';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import { wasHeld } from '../../machines/task/was-held.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import { waitOf } from './call-progress.ts';

/** The wait limits of a client in milliseconds; `null` for no limit. */
export interface Patience {
  clock: Clock;
  /** For a call that is or was held. */
  held: number | null;
  /** For every call. */
  running: number | null;
}

/**
 * Resolves with a call once it is final, or lasts longer than the client's wait limit. Rejects with the signal's
 * reason, or with SystemError.
 */
export async function waitForCall(
  tasks: CallerTasks,
  id: string,
  signal: AbortSignal,
  { clock, ...limits }: Patience,
): Promise<Task> {
  const stop = new AbortController();
  const settled = tasks.settled(id, AbortSignal.any([signal, stop.signal]));
  if (limits.held === null && limits.running === null) return settled;
  // Aborting this wait after an early answer is not an error.
  settled.catch(() => undefined);
  const early = Promise.withResolvers<Task>();
  const late = { held: false, running: false };
  const see = (task: Task | undefined): void => {
    if (task === undefined || isFinal(task.state)) return;
    const isHeld = wasHeld(task) || waitOf(task) !== null;
    if (late.running || (late.held && isHeld)) early.resolve(task);
  };
  const unwatch = tasks.watch(id, { onTask: see, onLost: () => undefined });
  const look = (): void => void tasks.find(id).then(see, () => undefined);
  const timers = (['held', 'running'] as const).map((name) => {
    const limit = limits[name];
    if (limit === null) return null;
    if (limit === 0) {
      late[name] = true;
      look();
      return null;
    }
    return clock.setTimeout(() => {
      late[name] = true;
      look();
    }, limit);
  });
  try {
    return await Promise.race([settled, early.promise]);
  } finally {
    for (const timer of timers) clock.clearTimeout(timer);
    unwatch();
    stop.abort();
  }
}
