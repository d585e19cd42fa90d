import type { Task } from '../../../machines/domain/task.ts';
import type { OwnedTask } from '../../../machines/task/task-access.ts';

/**
 * Returns the owner data of a task while its call was held, if the change ended the wait; `null` otherwise. The held
 * call itself is omitted: it may be large and does not affect ownership.
 */
export function waitedIn(before: Task | null, task: Task): OwnedTask | null {
  if (before === null || before.deferral === null) return null;
  const { owner, requester, settled, deferral } = before;
  if (deferral.id === task.deferral?.id) return null;
  const bare = { ...deferral, args: {}, context: '' };
  return { requester, settled, deferral: bare, ...(owner === undefined ? {} : { owner }) };
}
