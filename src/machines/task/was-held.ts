import type { Task } from '../domain/task.ts';

/** Returns true if a call of a task was held at some time in its latest run. */
export function wasHeld({ records }: Pick<Task, 'records'>): boolean {
  return records.some(({ decision }) => decision === 'defer');
}
