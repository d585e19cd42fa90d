import type { AuditEvent } from '../../ports/audit-event.ts';
import type { Delegation } from '../../ports/delegations.ts';
import type { RestoredStore } from './audit-opening.ts';
import type { StoredTask, TaskChange } from './task-rows.ts';

const warning =
  /^Restored from a backup of \d{4}-\d\d-\d\dT[\d:.]+Z: this call may have been decided since, so check before you approve\.\n/;

/** Returns the line that precedes the context of a call that waited in a backup of that time. */
function restoredWarning(backupAt: number): string {
  return `Restored from a backup of ${timeOf(backupAt)}: this call may have been decided since, so check before you approve.\n`;
}

/** Returns whether the context of a call begins with the whole warning of a backup; a caller may supply its first words. */
function isWarned(context: string): boolean {
  return warning.test(context);
}

/** Returns a waiting task whose approvers are warned; `null` if they are, or if its row is unreadable. */
export function withWarning(stored: StoredTask, backupAt: number): TaskChange | null {
  const { task, snapshot, unreadable, ...kept } = stored;
  const { deferral } = task;
  if (unreadable !== undefined || deferral === null || isWarned(deferral.context)) return null;
  const context = `${restoredWarning(backupAt)}${deferral.context}`;
  return {
    ...kept,
    task: { ...task, deferral: { ...deferral, context } },
    expected: task.revision,
    snapshot,
  };
}

/**
 * Creates the event of a restored store.
 *
 * @param restored with the key that signed its backup, `null` if that was not checked; absent without a backup file
 */
export function restoredEvent(
  restored: RestoredStore & { signedBy?: string | null },
  at: number,
): AuditEvent {
  const { backupAt, ended, waiting, holds, grants, pushTargets, signedBy } = restored;
  const fields = {
    backup_at: timeOf(backupAt),
    tasks_ended: ended,
    waiting,
    holds_unaccounted: holds,
    grants_suspended: grants,
    push_targets_deleted: pushTargets,
    ...(signedBy === undefined ? {} : { signed_by: signedBy }),
  };
  return { event: 'store_restored', ts: timeOf(at), fields };
}

/** Creates the event of a delegation that a restored store ends: its person may have ended it since the backup. */
export function delegationEnded(
  { id, from, to, until }: Pick<Delegation, 'id' | 'from' | 'to' | 'until'>,
  at: number,
): AuditEvent {
  const fields = { id, from, to, until: timeOf(until) };
  return { event: 'delegation_ended', ts: timeOf(at), fields };
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}
