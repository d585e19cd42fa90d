import { isFinal } from '../../machines/domain/task.ts';
import type { StoredTask, TaskStore } from '../records/records.ts';

/** Returns whether a task is idle: parked or final. */
export function isStandingStill({ task: { state } }: StoredTask): boolean {
  return state === 'deferred' || isFinal(state);
}

/**
 * Saves a task unchanged under a new revision and returns it; changes based on the previous revision can then no longer
 * be committed. Rejects with ConflictError or UnrecordedError.
 */
export async function claimed(
  stored: StoredTask,
  store: Pick<TaskStore, 'save'>,
): Promise<StoredTask> {
  const { snapshot, unreadable: _, ...kept } = stored;
  const task = { ...stored.task, revision: stored.task.revision + 1 };
  const expected = stored.task.revision;
  const change = { ...kept, task, expected, snapshot, isClaimed: true };
  await store.save(task.id, () => ({ change, events: [] }));
  return { ...stored, task };
}
