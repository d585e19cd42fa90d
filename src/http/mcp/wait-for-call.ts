import type { Clock } from '../../actors/ports.ts';
import { isFinal, type Task } from '../../machines/task/task.ts';
import { wasHeld } from '../../machines/task/was-held.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import { waitOf } from './call-progress.ts';

/** How long a client is kept waiting. */
export interface Patience {
  clock: Clock;
  /** Milliseconds; 0 for any time. */
  within: number;
  /** True answers a call in time that is at work as well, and not a held one alone. */
  isEveryCall?: boolean;
}

/**
 * Resolves with a call once it is final, or held for longer than its client is kept waiting. Rejects with the signal's
 * reason, or with SystemError.
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
  // What is cut off by the early answer is nobody's failure.
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
