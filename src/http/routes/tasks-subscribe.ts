import type { Ids } from '../../actors/ports/ids.ts';
import type { Log } from '../../actors/ports/log.ts';
import { forgetMessage } from '../forget-message.ts';
import { openTask } from '../open-task.ts';
import type { RoutedContext } from '../request-state.ts';
import { TaskStream } from '../task-stream.ts';

export interface SubscribePorts {
  ids: Ids;
  log: Log;
  /** The policy for a wait whose stream breaks (docs/contract/transports.md). */
  onDisconnect: 'abandon' | 'keep';
}

/**
 * Starts a task and streams it to the caller. The caller's disconnection may end the task's wait. Throws before the
 * stream begins.
 */
export async function subscribe(
  ports: SubscribePorts,
  ctx: RoutedContext,
  body: unknown,
): Promise<void> {
  const { log, onDisconnect } = ports;
  const stream = new TaskStream(ctx);
  const id = await openTask(ports, ctx, body, stream);
  forgetMessage(ctx);
  const abandon = (): void => {
    ctx.state.tasks
      .callerLeft(id)
      .catch((error: unknown) => log.error({ error, task_id: id }, 'task: could not be abandoned'));
  };
  stream.start(id, onDisconnect === 'abandon' ? abandon : undefined);
}
