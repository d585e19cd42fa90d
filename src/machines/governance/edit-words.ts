import type { CallEdit } from '../domain/task.ts';
import { legible, oneLine } from '../legible.ts';
import { mostChangesKept } from './kept-changes.ts';

/** Describes in one sentence what an approver changed in the arguments of a call. */
export function editWords({ approver, changes }: Pick<CallEdit, 'approver' | 'changes'>): string {
  return `${oneLine(approver)} changed the arguments: ${changeWords({ changes })}.`;
}

/** Lists the changes of arguments on one line. */
export function changeWords({ changes }: Pick<CallEdit, 'changes'>): string {
  const said = changes.map(
    ({ path, before = '(none)', after = '(none)' }) => `${path}: ${before} → ${after}`,
  );
  const more = changes.length < mostChangesKept ? [] : ['and possibly more'];
  return legible([...said, ...more].join(', '));
}
