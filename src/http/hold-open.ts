import { shownState, type Task } from '../machines/domain/task.ts';
import type { RoutedContext } from './request-state.ts';

/** Settings of a held response. */
export interface HeldAnswer {
  /** Media type; defaults to the type of all JSON responses. */
  type?: string;
  /** True for a task that already existed and may be waiting. */
  isRunning?: boolean;
}

/**
 * Keeps the response to a held request open until its task is final (docs/contract/transports.md). Nothing is sent at
 * first, so every status is still possible. Once the task has waited for people for one heartbeat interval in total,
 * the response begins: 200, its headers, and a blank with each heartbeat, even while the task runs again. Later errors
 * find `ctx.headerSent` set. Returns a function that ends the hold.
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
    // A pipelined response cannot be written until the response before it has finished.
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
  const leave = tasks.watch(id, { onTask: follow });
  // The waiter for the task receives the read error.
  if (isRunning) tasks.find(id).then(follow, () => undefined);
  return () => {
    isOver = true;
    leave();
    pause();
  };
}

/** Sets status and headers before the first byte makes them final. */
function begin(ctx: RoutedContext, type: string): void {
  ctx.status = 200;
  ctx.type = type;
  // Prevents nginx from buffering the response.
  ctx.set('X-Accel-Buffering', 'no');
}
