import type { Task } from '../../../machines/task/task.ts';
import type { OwnedTask } from '../../../machines/task/task-access.ts';

/**
 * Returns whose a task was while a call of it waited that waits no more; `null` when none did. What the call was to run
 * is left out: it may be large, and says nothing of whose it is.
 */
export function waitedIn(before: Task | null, task: Task): OwnedTask | null {
  if (before === null || before.deferral === null) return null;
  const { owner, requester, settled, deferral } = before;
  if (deferral.id === task.deferral?.id) return null;
  const bare = { ...deferral, args: {}, context: '' };
  return { requester, settled, deferral: bare, ...(owner === undefined ? {} : { owner }) };
}
