import type { DatabaseSync } from 'node:sqlite';
import { restoredWhileRunning } from '../../../machines/task/failure-of.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { RestoredStore } from '../store/audit-opening.ts';
import { delegationEnded, restoredEvent, withWarning } from '../store/restored-events.ts';
import type { RestoredMark } from './restored-mark.ts';
import type { SqliteTaskRows } from './sqlite-task-rows.ts';
import { TasksBehind } from './tasks-behind.ts';

/**
 * Settles a store that was restored from a backup, in its open transaction, and removes the mark. What happened after
 * the backup is unknown unless the log is newer: running tasks end, since their next call may have run; waiting calls
 * warn their approvers; an approved call of another program is released no more; approvals count for no later call;
 * delegations end; receivers of push notifications are deleted, since a caller may have deleted them; and everyone signs
 * in again.
 *
 * @param at epoch milliseconds
 */
export function settleRestored(
  database: DatabaseSync,
  rows: SqliteTaskRows,
  { backupAt, hasOldLog, signedBy }: RestoredMark,
  at: number,
): { restored: RestoredStore; events: AuditEvent[] } {
  const running = new TasksBehind(rows);
  if (hasOldLog) running.takeRunning();
  const { tasks: ended, holds, events } = running.end(at, restoredWhileRunning);
  const waiting = hasOldLog ? warnApprovers(database, rows, backupAt) : 0;
  const grants = change(database, 'UPDATE grants SET is_suspended = 1');
  const pushTargets = change(database, 'DELETE FROM push_targets');
  change(database, 'DELETE FROM web_sessions');
  database.exec('DROP TABLE restored');
  const restored = { backupAt, ended, waiting, holds, grants, pushTargets };
  return {
    restored,
    events: [
      restoredEvent({ ...restored, signedBy }, at),
      ...endDelegations(database, at),
      ...events,
    ],
  };
}

/** A person may have taken a right back since the backup. */
function endDelegations(database: DatabaseSync, at: number): AuditEvent[] {
  const ended = database.prepare('DELETE FROM delegations RETURNING *').all();
  return ended
    .filter(({ until }) => Number(until) > at)
    .map(({ id, giver, taker, until }) => {
      const people = { from: String(giver), to: String(taker) };
      return delegationEnded({ id: String(id), ...people, until: Number(until) }, at);
    });
}

/** The context is what every approval surface shows. */
function warnApprovers(database: DatabaseSync, rows: SqliteTaskRows, backupAt: number): number {
  const waiting = database.prepare(`SELECT id FROM tasks WHERE state = 'deferred'`).all();
  for (const { id } of waiting) {
    const stored = rows.readNow(String(id));
    const warned = stored === undefined ? null : withWarning(stored, backupAt);
    if (warned !== null) rows.write(warned);
  }
  return waiting.length;
}

function change(database: DatabaseSync, sql: string): number {
  return Number(database.prepare(sql).run().changes);
}
