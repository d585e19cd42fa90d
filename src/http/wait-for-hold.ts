import type { Clock } from '../actors/ports/clock.ts';
import { isFinal, type Task } from '../machines/domain/task.ts';
import type { CallerTasks } from './caller-tasks.ts';
import type { RoutedContext } from './request-state.ts';

interface Waiting {
  clock: Clock;
  /** Milliseconds that the request waits for a person. */
  within: number;
}

/**
 * Resolves with a hold of the caller once it is decided, or after the wait. Resolves with `null` if the caller left,
 * even in the moment of the decision: no response is sent, and the call stays unreleased. Rejects with SystemError.
 */
export async function waitForHold(
  ctx: RoutedContext,
  id: string,
  waiting: Waiting,
): Promise<Task | null> {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  ctx.res.once('close', leave);
  try {
    const task = await settledWithin(ctx.state.tasks, id, gone.signal, waiting);
    if (!gone.signal.aborted) return task;
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  } finally {
    ctx.res.off('close', leave);
  }
  ctx.respond = false;
  return null;
}

/** Records that the caller receives a granted call. Any other hold is returned unchanged. Rejects with SystemError. */
export async function receiveHold(
  ctx: RoutedContext,
  hold: Task,
  claim?: string,
): Promise<{ task: Task; isFirst: boolean }> {
  if (hold.hold?.account?.state !== 'granted') return { task: hold, isFirst: false };
  const { task = hold, isChanged } = await ctx.state.tasks.takeHold(hold.id, claim);
  return { task, isFirst: isChanged };
}

async function settledWithin(
  tasks: CallerTasks,
  id: string,
  signal: AbortSignal,
  { clock, within }: Waiting,
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
