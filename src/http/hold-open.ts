import { shownState, type Task } from '../machines/domain/task.ts';
import type { RoutedContext } from './request-state.ts';

/** A held response. */
export interface Hold {
  /** Receives each state of the task. */
  follow: (task: Task) => void;
  /** Ends the hold. */
  release: () => void;
}

/**
 * Keeps the response to a held request open until its task is final (docs/contract/transports.md). Nothing is sent at
 * first, so every status is still possible. Once the task has waited for people for one heartbeat interval in total,
 * the response begins: 200, its headers, and a blank with each heartbeat, even while the task runs again. Later errors
 * find `ctx.headerSent` set. `type` is the media type.
 */
export function holdOpen(ctx: RoutedContext, type = 'json'): Hold {
  const { keepAlive, traffic } = ctx.state;
  const { blanks } = keepAlive;
  if (blanks === null) return { follow: () => undefined, release: () => undefined };
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
  const follow = (task: Task): void => {
    if (task.revision < revision) return;
    revision = task.revision;
    if (shownState(task) === 'deferred') stop ??= blanks.start(beat, left);
    else if (!ctx.headerSent) pause();
  };
  return { follow, release: pause };
}

/** Sets status and headers before the first byte makes them final. */
function begin(ctx: RoutedContext, type: string): void {
  ctx.status = 200;
  ctx.type = type;
  // Prevents nginx from buffering the response.
  ctx.set('X-Accel-Buffering', 'no');
}
