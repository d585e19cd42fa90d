import type { Task } from '../machines/task/task.ts';

/** Tells whether a task says anything else than before to somebody who follows it. */
export function isNews(before: Task | null, after: Task): boolean {
  return (
    before === null ||
    before.state !== after.state ||
    before.text !== after.text ||
    before.deferral?.approvals.length !== after.deferral?.approvals.length
  );
}
