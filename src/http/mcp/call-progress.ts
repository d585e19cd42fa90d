import type { ToolProgress } from '../../actors/ports/tool.ts';
import type { Task } from '../../machines/domain/task.ts';
import { type WaitMark, waitsMark } from '../../machines/task/wait-mark.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import type { Heartbeats } from '../heartbeats.ts';
import { timestamp } from '../wire/timestamp.ts';
import type { CallExtra } from './call-ports.ts';

/** Returns the reason why a held call waits; a wait of its tool at another agent counts too. */
export function waitOf({ state, deferral, waits }: Task): WaitMark | null {
  if (waits !== undefined) {
    return { for: `${waits.for} at ${waits.at}`, until: waits.until ?? null };
  }
  if (state !== 'deferred' || deferral === null) return null;
  return { for: deferral.to, until: timestamp(deferral.expiresAt) };
}

/**
 * Sends progress notifications to a client that requested them, until the returned function is called. They report that
 * the call is held, its approvers and task ID, and the progress of its tool.
 */
export function sendProgress(
  beats: Heartbeats,
  tasks: CallerTasks,
  id: string,
  { _meta, notify }: Pick<CallExtra, '_meta' | 'notify'>,
): () => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let progress = 0;
  let isOver = false;
  let task: Task | undefined;
  let hasTold = false;
  /** The count reached before the tool began to report progress. */
  let base: number | null = null;
  const send = (told: object): void => {
    if (isOver) return;
    const params = { progressToken, progress, ...told };
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const tell = (): void => {
    const wait = task === undefined ? null : waitOf(task);
    if (task === undefined || (wait === null && !hasTold)) return;
    hasTold = wait !== null;
    progress += 1;
    const message = `${wait === null ? 'continues' : (task.text ?? 'held')} (task ${id})`;
    send({ message, _meta: { task_id: id, [waitsMark]: wait } });
  };
  const report = ({ progress: reached, total, message }: ToolProgress): void => {
    base ??= progress;
    // Progress must never decrease.
    progress = Math.max(progress, base + reached);
    send({
      ...(total === undefined ? {} : { total: base + total }),
      ...(message === undefined ? {} : { message }),
      _meta: { task_id: id },
    });
  };
  const see = (seen: Task | undefined): void => {
    if ((seen?.revision ?? 0) < (task?.revision ?? 0)) return;
    task = seen;
    tell();
  };
  const watcher = { onTask: see, onToolProgress: report, onLost: () => undefined };
  const unwatch = tasks.watch(id, watcher);
  const rest = beats.start(tell);
  // The waiter for the call receives the read error.
  tasks.find(id).then(see, () => undefined);
  return () => {
    isOver = true;
    unwatch();
    rest();
  };
}
