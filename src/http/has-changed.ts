import { shownState, type Task } from '../machines/domain/task.ts';

/** Returns true if a task changed in the parts visible to its followers. */
export function hasChanged(before: Task | null, after: Task): boolean {
  return (
    before === null ||
    shownState(before) !== shownState(after) ||
    before.text !== after.text ||
    before.deferral?.approvals.length !== after.deferral?.approvals.length
  );
}
