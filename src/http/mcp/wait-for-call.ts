import type { Clock } from '../../actors/ports/clock.ts';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import { wasHeld } from '../../machines/task/was-held.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import { waitOf } from './call-progress.ts';

/** The wait limit of a client. */
export interface Patience {
  clock: Clock;
  /** Milliseconds; 0 for no limit. */
  within: number;
  /** If true, the limit applies to running calls too, not only to held ones. */
  isEveryCall?: boolean;
}

/**
 * Resolves with a call once it is final, or held longer than the client's wait limit. Rejects with the signal's reason,
 * or with SystemError.
 */
export async function waitForCall(
  tasks: CallerTasks,
  id: string,
  signal: AbortSignal,
  { clock, within, isEveryCall = false }: Patience,
): Promise<Task> {
  const stop = new AbortController();
  const settled = tasks.settled(id, AbortSignal.any([signal, stop.signal]));
  if (within === 0) return settled;
  // Aborting this wait after an early answer is not an error.
  settled.catch(() => undefined);
  const early = Promise.withResolvers<Task>();
  let isLate = false;
  const see = (task: Task | undefined): void => {
    if (!isLate || task === undefined || isFinal(task.state)) return;
    if (isEveryCall || wasHeld(task) || waitOf(task) !== null) early.resolve(task);
  };
  const unwatch = tasks.watch(id, { onTask: see, onLost: () => undefined });
  const timer = clock.setTimeout(() => {
    isLate = true;
    tasks.find(id).then(see, () => undefined);
  }, within);
  try {
    return await Promise.race([settled, early.promise]);
  } finally {
    clock.clearTimeout(timer);
    unwatch();
    stop.abort();
  }
}
