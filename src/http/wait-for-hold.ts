import type { Clock } from '../actors/ports/clock.ts';
import { isFinal, type Task } from '../machines/domain/task.ts';
import type { CallerTasks } from './caller-tasks.ts';

/**
 * Resolves with a hold once it is decided, or when it has waited for a person for `within` milliseconds. Rejects with
 * the reason of the signal, or with SystemError.
 */
export async function waitForHold(
  tasks: CallerTasks,
  id: string,
  signal: AbortSignal,
  { clock, within }: { clock: Clock; within: number },
): Promise<Task> {
  const standing = await tasks.standing(id, signal);
  if (within === 0 || isFinal(standing.state)) return standing;
  const stop = new AbortController();
  const settled = tasks.settled(id, AbortSignal.any([signal, stop.signal]));
  // Aborting the wait after an early answer is not an error.
  settled.catch(() => undefined);
  const over = Promise.withResolvers<null>();
  const timer = clock.setTimeout(() => over.resolve(null), within);
  try {
    const task = await Promise.race([settled, over.promise]);
    return task ?? (await tasks.find(id)) ?? standing;
  } finally {
    clock.clearTimeout(timer);
    stop.abort();
  }
}
