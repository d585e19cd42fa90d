import { isFinal } from '../../machines/task/task.ts';
import type { StoredTask, TaskStore } from '../records/records.ts';

/** Returns whether nothing of a task is at work: it is parked, or has ended. */
export function isStandingStill({ task: { state } }: StoredTask): boolean {
  return state === 'deferred' || isFinal(state);
}

/**
 * Saves a task as it stands under a new revision and returns it, after which nobody can commit what they made of the
 * one before. Rejects with ConflictError or UnrecordedError.
 */
export async function claimed(
  stored: StoredTask,
  store: Pick<TaskStore, 'save'>,
): Promise<StoredTask> {
  const { snapshot, unreadable: _, ...kept } = stored;
  const task = { ...stored.task, revision: stored.task.revision + 1 };
  const expected = stored.task.revision;
  const change = { ...kept, task, expected, snapshot: JSON.stringify(snapshot), isClaimed: true };
  await store.save(task.id, () => ({ change, events: [] }));
  return { ...stored, task };
}
