import type { Task } from './task.ts';

/** Tells whether a call of a task waited for a decision at some time of its latest run. */
export function wasHeld({ records }: Pick<Task, 'records'>): boolean {
  return records.some(({ decision }) => decision === 'defer');
}
