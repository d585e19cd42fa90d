import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { MessageRef } from '../../../machines/channels/approval-notice.ts';
import {
  type ApprovalBacklog,
  type ApprovalRow,
  type ApprovalRows,
  type ApprovalSlot,
  type ApprovalWrite,
  type NoticeColumns,
  noticeColumns,
  noticeRowOf,
  toldColumn,
} from '../store/approval-rows.ts';
import { inTransaction } from './in-transaction.ts';
import { addValue, valuesSql } from './task-parts.ts';

/** Approval notices in SQLite. `TaskParts` writes the rows, and this class what happens to their messages. */
export class SqliteApprovalRows implements ApprovalRows {
  readonly #database: DatabaseSync;
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#sql = prepare(database);
  }

  /** Returns the rows of a deferral for the targets of one adapter, oldest first. */
  async find(deferralId: string, adapter: string): Promise<ApprovalRow[]> {
    return this.#sql.find.all(deferralId, adapter).map(rowOf);
  }

  async findAt(adapter: string, ref: MessageRef): Promise<ApprovalRow | undefined> {
    const found = this.#sql.findAt.get(adapter, JSON.stringify(ref));
    return found === undefined ? undefined : rowOf(found);
  }

  async doubt(position: number): Promise<void> {
    this.#sql.doubt.run(position);
  }

  /** Returns the rows of a task for all targets, oldest first. */
  async ofTask(taskId: string): Promise<ApprovalRow[]> {
    return this.#sql.ofTask.all(taskId).map(rowOf);
  }

  /** Returns the ids of tasks that wait for approval. */
  async waiting(): Promise<string[]> {
    return this.#sql.waiting.all().map((row) => String(row['id']));
  }

  /** Returns the next slot of an adapter with due rows, after `after`; the first one for `null`. */
  async nextSlot(adapter: string, after: ApprovalSlot | null): Promise<ApprovalSlot | undefined> {
    const found =
      after === null
        ? this.#sql.firstSlot.get(adapter)
        : (this.#sql.otherSlot.get(adapter, after.target, after.isPosted ? 1 : 0) ??
          this.#sql.nextTarget.get(adapter, after.target));
    if (found === undefined) return undefined;
    return { target: String(found['target']), isPosted: found['is_posted'] === 1 };
  }

  /** Returns the due row of a slot with the earliest deadline, excluding some positions. */
  async nextDue(
    adapter: string,
    { target, isPosted }: ApprovalSlot,
    except: readonly number[] = [],
  ): Promise<ApprovalRow | undefined> {
    const others = JSON.stringify(except);
    const found = this.#sql.nextDue.get(adapter, target, isPosted ? 1 : 0, others);
    return found === undefined ? undefined : rowOf(found);
  }

  /**
   * Saves delivery results in one commit; later changes remain due. A power failure may lose the commit, in which case
   * messages are sent again. Waiting for the disk would delay every task for results that can be repeated.
   */
  async keep(writes: readonly ApprovalWrite[]): Promise<void> {
    if (writes.length === 0) return;
    this.#database.exec('PRAGMA synchronous = NORMAL');
    try {
      inTransaction(this.#database, () => {
        for (const { position, version, ref, told, isClosed } of writes) {
          const { json, values } = toldColumn(told);
          const kept = isClosed ? null : json;
          const place = ref === null ? null : JSON.stringify(ref);
          const { changes } = this.#sql.keep.run(position, version, place, kept, isClosed ? 1 : 0);
          // The row is gone if its task was deleted.
          if (isClosed || changes === 0) continue;
          for (const { digest, value, is_asked } of values) {
            this.#sql.addValue.run(told.request.taskId, digest, value, is_asked);
          }
        }
      });
    } finally {
      this.#database.exec('PRAGMA synchronous = FULL');
    }
  }

  /** Counts due rows by adapter. */
  async backlog(): Promise<ApprovalBacklog[]> {
    return this.#sql.backlog.all().map((row) => ({
      adapter: String(row['adapter']),
      unposted: Number(row['unposted']),
      stale: Number(row['stale']),
      oldestAt: Number(row['oldest']),
    }));
  }
}

function rowOf(row: Record<string, SQLOutputValue>): ApprovalRow {
  return noticeRowOf(row as unknown as NoticeColumns);
}

const columns = noticeColumns(valuesSql);

function prepare(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  const slot = (after: string): string => `SELECT target, is_posted FROM approval_notices
    WHERE due = 1 AND adapter = ?1 ${after} ORDER BY target, is_posted LIMIT 1`;
  return {
    addValue: sql(addValue),
    find: sql(`SELECT ${columns} FROM approval_notices
      WHERE deferral_id = ? AND adapter = ? ORDER BY position`),
    findAt: sql(`SELECT ${columns} FROM approval_notices WHERE adapter = ? AND ref = ? LIMIT 1`),
    doubt: sql(`UPDATE approval_notices SET told = NULL, due = 1, version = version + 1
      WHERE position = ? AND is_posted = 1 AND is_closed = 0 AND ended IS NULL`),
    ofTask: sql(`SELECT ${columns} FROM approval_notices WHERE task_id = ? ORDER BY position`),
    waiting: sql('SELECT id FROM tasks WHERE deferral_id IS NOT NULL'),
    firstSlot: sql(slot('')),
    otherSlot: sql(slot('AND target = ?2 AND is_posted > ?3')),
    nextTarget: sql(slot('AND target > ?2')),
    nextDue: sql(`SELECT ${columns} FROM approval_notices
      WHERE due = 1 AND adapter = ? AND target = ? AND is_posted = ?
        AND position NOT IN (SELECT value FROM json_each(?))
      ORDER BY expires_at, position LIMIT 1`),
    keep: sql(`UPDATE approval_notices SET ref = coalesce(?3, ref), told = ?4, is_closed = ?5,
      is_posted = is_posted OR ?3 IS NOT NULL, due = NOT ?5 AND version > ?2 WHERE position = ?1`),
    backlog: sql(`SELECT adapter, sum(is_posted = 0) AS unposted, sum(is_posted) AS stale,
        min(requested_at) AS oldest
      FROM approval_notices WHERE due = 1 GROUP BY adapter ORDER BY adapter`),
  };
}
