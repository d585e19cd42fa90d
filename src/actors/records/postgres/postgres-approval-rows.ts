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
import type { PostgresDatabase } from './postgres-database.ts';
import { addValues, valuesSql } from './task-values.ts';

const columns = noticeColumns(valuesSql);

/** Approval notices of an agent in PostgreSQL. */
export class PostgresApprovalRows implements ApprovalRows {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  find(deferralId: string, adapter: string): Promise<ApprovalRow[]> {
    return this.#rows('deferral_id = $1 AND adapter = $2 ORDER BY position', deferralId, adapter);
  }

  async findAt(adapter: string, ref: MessageRef): Promise<ApprovalRow | undefined> {
    const [row] = await this.#rows(
      'adapter = $1 AND ref = $2 LIMIT 1',
      adapter,
      JSON.stringify(ref),
    );
    return row;
  }

  async doubt(position: number): Promise<void> {
    await this.#database.query(
      `UPDATE approval_notices SET told = NULL, due = true, version = version + 1
        WHERE position = $1 AND is_posted AND NOT is_closed AND ended IS NULL`,
      [position],
    );
  }

  ofTask(taskId: string): Promise<ApprovalRow[]> {
    return this.#rows('task_id = $1 ORDER BY position', taskId);
  }

  async waiting(): Promise<string[]> {
    const sql = 'SELECT id FROM tasks WHERE deferral_id IS NOT NULL';
    return (await this.#database.query<{ id: string }>(sql)).map(({ id }) => id);
  }

  async nextSlot(adapter: string, after: ApprovalSlot | null): Promise<ApprovalSlot | undefined> {
    const [row] = await this.#database.query<{ target: string; is_posted: boolean }>(
      `SELECT target, is_posted FROM approval_notices
        WHERE due AND adapter = $1 AND ($2::text IS NULL OR (target, is_posted) > ($2, $3))
        ORDER BY target, is_posted LIMIT 1`,
      [adapter, after?.target ?? null, after?.isPosted ?? false],
    );
    return row && { target: row.target, isPosted: row.is_posted };
  }

  async nextDue(
    adapter: string,
    { target, isPosted }: ApprovalSlot,
    except: readonly number[] = [],
  ): Promise<ApprovalRow | undefined> {
    const [row] = await this.#rows(
      `due AND adapter = $1 AND target = $2 AND is_posted = $3 AND position <> ALL($4::bigint[])
        ORDER BY expires_at, position LIMIT 1`,
      ...[adapter, target, isPosted, except],
    );
    return row;
  }

  async keep(writes: readonly ApprovalWrite[]): Promise<void> {
    if (writes.length === 0) return;
    const kept = new Map<number, object>();
    const refs = new Map<number, MessageRef | null>();
    const values: Parameters<typeof addValues>[0][number][] = [];
    for (const { position, version, ref, told, isClosed } of writes) {
      // Of two writes of one row the later wins; without a `ref` it keeps that of the earlier.
      const place = ref ?? refs.get(position) ?? null;
      refs.set(position, place);
      const column = toldColumn(told);
      if (!isClosed) {
        const { taskId: task_id } = told.request;
        values.push(...column.values.map((value) => ({ ...value, task_id })));
      }
      kept.set(position, {
        position,
        version,
        is_closed: isClosed,
        ref: place === null ? null : JSON.stringify(place),
        told: isClosed ? null : column.json,
      });
    }
    for (const { text, values: all } of addValues(values)) await this.#database.query(text, all);
    await this.#database.query(
      `UPDATE approval_notices AS n SET ref = coalesce(x.ref, n.ref), told = x.told,
        is_closed = x.is_closed, is_posted = n.is_posted OR x.ref IS NOT NULL,
        due = NOT x.is_closed AND n.version > x.version
        FROM json_to_recordset($1::text::json)
          AS x(position bigint, version integer, ref text, told text, is_closed boolean)
        WHERE n.position = x.position`,
      [JSON.stringify([...kept.values()])],
    );
  }

  async backlog(): Promise<ApprovalBacklog[]> {
    return this.#database.query<{ oldestAt: number } & ApprovalBacklog>(
      `SELECT adapter, count(*) FILTER (WHERE NOT is_posted) AS unposted,
          count(*) FILTER (WHERE is_posted) AS stale, min(requested_at) AS "oldestAt"
        FROM approval_notices WHERE due GROUP BY adapter ORDER BY adapter`,
    );
  }

  async #rows(condition: string, ...values: unknown[]): Promise<ApprovalRow[]> {
    const sql = `SELECT ${columns} FROM approval_notices WHERE ${condition}`;
    return (await this.#database.query<NoticeColumns>(sql, values)).map(noticeRowOf);
  }
}
