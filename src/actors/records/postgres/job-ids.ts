import { v5 } from 'uuid';

/** Namespaces of job ids: a task has one job while it runs, and one for its deadline while it is parked. */
const works = '6f0d7c2e-6f8f-4c3b-9a53-0f1f6a2b7c11';
const deadlines = 'a1c5d0f4-2f7b-4f0e-8d2c-5f9b1f6f3e22';

/** Returns the job id of a running task; a derived UUID, since callers choose task ids. */
export function workId(taskId: string): string {
  return v5(taskId, works);
}

/** Returns the id of the job that waits for a task's deadline. */
export function deadlineId(taskId: string): string {
  return v5(taskId, deadlines);
}
