import { shownState, type Task } from '../machines/task/task.ts';
import type { RoutedContext } from './request-state.ts';

/** Settings of a held answer. */
export interface HeldAnswer {
  /** Its media type; that of every JSON answer when absent. */
  type?: string;
  /** True for a task that was there before and may wait already. */
  isRunning?: boolean;
}

/**
 * Keeps the answer of a held request open until its task is final (docs/contract/transports.md). Nothing is sent at
 * first, so every status is possible. Once the task has waited for people for one heartbeat in total, the answer
 * begins: 200, its headers, and a blank with each heartbeat, also while the task works again. Errors after that find
 * `ctx.headerSent`. Returns a function that ends the hold.
 */
export function holdOpen(
  ctx: RoutedContext,
  id: string,
  { type = 'json', isRunning = false }: HeldAnswer = {},
): () => void {
  const { tasks, keepAlive, traffic } = ctx.state;
  const { blanks } = keepAlive;
  if (blanks === null) return () => undefined;
  let left = blanks.every;
  let stop: (() => number) | null = null;
  const beat = (): void => {
    // A response behind another one on the same connection cannot be written yet.
    if (ctx.res.socket === null) return;
    const piece = ctx.headerSent ? ' ' : '';
    if (!ctx.headerSent) begin(ctx, type);
    traffic.trickle(ctx.res, piece);
  };
  const pause = (): void => {
    if (stop === null) return;
    left = stop();
    stop = null;
  };
  let revision = -1;
  let isOver = false;
  const follow = (task: Task | undefined): void => {
    if (isOver || task === undefined || task.revision < revision) return;
    revision = task.revision;
    if (shownState(task) === 'deferred') stop ??= blanks.start(beat, left);
    else if (!ctx.headerSent) pause();
  };
  const leave = tasks.watch(id, { onTask: follow, onLost: () => undefined });
  // Who waits for the task hears of it when it cannot be read.
  if (isRunning) tasks.find(id).then(follow, () => undefined);
  return () => {
    isOver = true;
    leave();
    pause();
  };
}

/** Sets status and headers before the first byte, which makes them final. */
function begin(ctx: RoutedContext, type: string): void {
  ctx.status = 200;
  ctx.type = type;
  // Otherwise nginx keeps what it is sent for itself until there is more of it.
  ctx.set('X-Accel-Buffering', 'no');
}
