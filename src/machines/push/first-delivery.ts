import { isFinal, type Task } from '../domain/task.ts';

/** A receiver that was just stored, possibly in the place of another with its id. */
export interface StoredReceiver {
  /** True if this daemon delivers the notifications of all tasks. */
  isDelivering: boolean;
  /** Revision of the task when the receiver was requested; 0 for no task. */
  since: number;
  /** The task now; `undefined` if it does not exist. */
  task: Pick<Task, 'state' | 'revision'> | undefined;
  /** Last delivered revision in the store if the replaced receiver had not been notified of the end; `null` otherwise. */
  before: number | null;
  /** Last revision that this daemon delivered to the replaced receiver, which the store may lack; 0 for none. */
  delivered: number;
  /** True if this daemon had undelivered changes for the replaced receiver. */
  hadWaiting: boolean;
}

/**
 * Decides whether a new receiver has the end of its task. `over`: nothing is left to deliver. `elsewhere`: another daemon
 * delivers. Otherwise this daemon delivers changes after revision `after`.
 */
export function firstDelivery(receiver: StoredReceiver): 'over' | 'elsewhere' | { after: number } {
  const { isDelivering, since, task, before, delivered, hadWaiting } = receiver;
  const hasEnded = task !== undefined && isFinal(task.state);
  const lacksEnd = hasEnded && before !== null && Math.max(before, delivered) < task.revision;
  if (isDelivering) {
    if (hadWaiting || lacksEnd) return { after: 0 };
    return hasEnded ? 'over' : { after: since };
  }
  if (!hasEnded || lacksEnd) return 'elsewhere';
  // The delivering daemon may have seen the end before the receiver was stored.
  return task.revision === since ? 'over' : { after: since };
}
