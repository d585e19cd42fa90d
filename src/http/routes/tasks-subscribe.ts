import type { Ids, Log } from '../../actors/ports.ts';
import type { TaskSystem } from '../../actors/system.ts';
import type { RoutedContext } from '../request-state.ts';
import { streamTask } from '../task-stream.ts';
import { readSubmission } from '../wire/task-request.ts';

/** What streaming a new task needs. */
export interface SubscribePorts {
  system: TaskSystem;
  ids: Ids;
  log: Log;
  /** What becomes of a wait whose stream breaks (contract section 5). */
  onDisconnect: 'abandon' | 'keep';
}

/** Starts a task and streams it to the caller, whose going may end its wait. Throws before the stream begins. */
export function subscribe(
  { system, ids, log, onDisconnect }: SubscribePorts,
  ctx: RoutedContext,
  body: unknown,
): void {
  const { caller: requester, correlationId } = ctx.state;
  const submission = readSubmission(body, () => ids.next());
  const id = system.open({ ...submission, requester, correlationId });
  const abandon = (): void => {
    system
      .callerLeft(id)
      .catch((error: unknown) => log.error({ error, task_id: id }, 'task: could not be abandoned'));
  };
  streamTask(ctx, {
    system,
    id,
    seen: 'start',
    ...(onDisconnect === 'abandon' ? { onGone: abandon } : {}),
  });
}

/** `POST /tasks/sendSubscribe`: starts a task and streams it (document 1 section 4.2). */
export function tasksSubscribe(ports: SubscribePorts) {
  return function sendSubscribe(ctx: RoutedContext) {
    subscribe(ports, ctx, ctx.request.body);
  };
}
