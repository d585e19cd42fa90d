import type { Task } from '../machines/task/task.ts';
import type { RoutedContext } from './request-state.ts';

/** What a held answer is. */
export interface HeldAnswer {
  /** Its media type; that of every JSON answer when absent. */
  type?: string;
  /** The task as it stands, where it may wait already. */
  task?: Task | undefined;
}

/**
 * Keeps the answer of a held request open while its task is waited for (contract section 5). It is unsent at
 * first, and every status open. Once the task has waited for people for a heartbeat, all its waits together, the
 * answer begins: 200, its headers, and with each heartbeat a blank, also while the task works again. What ends
 * the request from then on finds `ctx.headerSent`. Returns what has to be called at the end of the hold.
 */
export function holdOpen(
  ctx: RoutedContext,
  id: string,
  { type = 'json', task }: HeldAnswer = {},
): () => void {
  const { tasks, keepAlive, traffic } = ctx.state;
  const { blanks } = keepAlive;
  if (blanks === null) return () => undefined;
  let left = blanks.every;
  let stop: (() => number) | null = null;
  const beat = (): void => {
    // Whoever waits behind another request on the same connection cannot be told anything yet.
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
  const follow = ({ state }: Task): void => {
    if (state === 'deferred') stop ??= blanks.start(beat, left);
    else if (!ctx.headerSent) pause();
  };
  const leave = tasks.watch(id, { onTask: follow, onLost: () => undefined });
  if (task !== undefined) follow(task);
  return () => {
    leave();
    pause();
  };
}

/** Sets what the answer will be sent with; from the first byte on nothing of it can be changed. */
function begin(ctx: RoutedContext, type: string): void {
  ctx.status = 200;
  ctx.type = type;
  // Otherwise nginx keeps what it is sent for itself until there is more of it.
  ctx.set('X-Accel-Buffering', 'no');
}
