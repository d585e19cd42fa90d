import { shownState, type Task } from '../machines/task/task.ts';

/** Tells whether a task changed in the parts that its followers see. */
export function hasChanged(before: Task | null, after: Task): boolean {
  return (
    before === null ||
    shownState(before) !== shownState(after) ||
    before.text !== after.text ||
    before.deferral?.approvals.length !== after.deferral?.approvals.length
  );
}
