import type { OpenHoldState } from '../../../machines/domain/hold.ts';
import type { Owner, Task, TaskState } from '../../../machines/domain/task.ts';
import { countOpenHolds } from '../store/open-holds.ts';
import { columnsOfOwner } from '../store/task-owners.ts';
import {
  isKnown as known,
  storedColumns,
  storedTaskOf,
  type TaskRow,
  taskOf,
  wholeColumns,
} from '../store/task-row.ts';
import type {
  MessageRows,
  SessionRows,
  StateRows,
  StoredTask,
  StrangeTasks,
  TaskListing,
  TaskRows,
  WaitFigures,
} from '../store/task-rows.ts';
import { waitFigures, waitsAt } from '../store/waits-at.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { PostgresSessionRows } from './postgres-session-rows.ts';
import { PostgresStateRows } from './postgres-state-rows.ts';
import { PostgresTaskListing } from './postgres-task-listing.ts';
import { ReadBatch } from './read-batch.ts';
import { valuesSql } from './task-values.ts';

/** Tasks of an agent in PostgreSQL. */
export class PostgresTaskRows implements TaskRows {
  readonly listing: TaskListing;
  readonly messages: MessageRows;
  readonly sessions: SessionRows;
  readonly states: StateRows;
  readonly #database: PostgresDatabase;
  readonly #stored: ReadBatch<StoredTask>;
  readonly #found: ReadBatch<Task>;
  readonly #waiting: ReadBatch<number>;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    const batchOf = <Value>(columns: string, valueOf: (row: TaskRow) => Value) =>
      new ReadBatch(async (ids) => {
        const sql = `SELECT ${columns} FROM tasks WHERE id = ANY($1::text[])`;
        const rows = await database.query<TaskRow>(sql, [ids]);
        return new Map(rows.map((row) => [String(row['id']), valueOf(row)]));
      });
    this.#stored = batchOf(storedColumns(valuesSql), storedTaskOf);
    this.#found = batchOf(wholeColumns(valuesSql), taskOf);
    this.#waiting = new ReadBatch((owners) => waitingByOwner(database, owners));
    this.listing = new PostgresTaskListing(database);
    this.sessions = new PostgresSessionRows(database);
    this.states = new PostgresStateRows(database);
    this.messages = {
      find: async (key) => {
        const sql = 'SELECT task_id FROM sent_messages WHERE key = $1';
        const [row] = await database.query<{ task_id: string }>(sql, [key]);
        return row?.task_id;
      },
      forget: async (key, taskId) => {
        const sql = 'DELETE FROM sent_messages WHERE key = $1 AND task_id = $2';
        await database.query(sql, [key, taskId]);
      },
    };
  }

  read(id: string): Promise<StoredTask | undefined> {
    return this.#stored.get(id);
  }

  find(id: string): Promise<Task | undefined> {
    return this.#found.get(id);
  }

  findByDeferral(deferralId: string): Promise<Task | undefined> {
    return this.#taskWhere('deferral_id = $1', deferralId);
  }

  working(): Promise<string[]> {
    return this.#ids(`state IN ('submitted', 'working') AND ${known} ORDER BY position`);
  }

  parked(): Promise<string[]> {
    return this.#ids(`state = 'deferred' AND ${known} ORDER BY position`);
  }

  /** Daemons of several releases may share the tasks, and each rules by its own code. */
  async rulings(): Promise<string[]> {
    return [];
  }

  overdue(now: number): Promise<string[]> {
    return this.#ids(`deadline_at <= $1 AND ${known} ORDER BY deadline_at`, now);
  }

  async nextDeadline(after: number): Promise<number | null> {
    const [row] = await this.#database.query<{ at: number }>(
      `SELECT deadline_at AS at FROM tasks WHERE deadline_at > $1 AND ${known} ORDER BY deadline_at LIMIT 1`,
      [after],
    );
    return row?.at ?? null;
  }

  async countWaiting(owner: Owner | null): Promise<number> {
    return (await this.#waiting.get(JSON.stringify(columnsOfOwner(owner)))) ?? 0;
  }

  async waitingOf(owner: Owner | null, limit: number): Promise<string[]> {
    const condition = `state = 'deferred' AND owner_org = $1 AND owner = $2 LIMIT $3`;
    return this.#ids(condition, ...columnsOfOwner(owner), limit);
  }

  async strangers(): Promise<StrangeTasks[]> {
    const rows = await this.#database.query<{ machine_version: number; tasks: number }>(
      `SELECT machine_version, count(*) AS tasks FROM tasks
        WHERE state IN ('submitted', 'working', 'deferred') AND NOT ${known}
        GROUP BY machine_version`,
    );
    return rows.map(({ machine_version: machineVersion, tasks }) => ({ machineVersion, tasks }));
  }

  async waits(now: number): Promise<WaitFigures> {
    const [row] = await this.#database.query<Record<'oldest' | 'expires' | 'overdue', unknown>>(
      waitsAt('$1'),
      [now],
    );
    return waitFigures(row?.oldest, row?.expires, row?.overdue);
  }

  async count(state: TaskState): Promise<number> {
    const sql = 'SELECT count(*) AS tasks FROM tasks WHERE state = $1';
    const [row] = await this.#database.query<{ tasks: number }>(sql, [state]);
    return row?.tasks ?? 0;
  }

  async countByState(): Promise<Partial<Record<TaskState, number>>> {
    const rows = await this.#database.query<{ state: string; tasks: number }>(
      'SELECT state, count(*) AS tasks FROM tasks GROUP BY state',
    );
    return Object.fromEntries(rows.map(({ state, tasks }) => [state, tasks]));
  }

  async countOpenHolds(): Promise<Partial<Record<OpenHoldState, number>>> {
    const rows = await this.#database.query<{ state: string; holds: number }>(countOpenHolds);
    return Object.fromEntries(rows.map(({ state, holds }) => [state, holds]));
  }

  async #taskWhere(condition: string, value: string): Promise<Task | undefined> {
    const sql = `SELECT ${wholeColumns(valuesSql)} FROM tasks WHERE ${condition}`;
    const [row] = await this.#database.query<TaskRow>(sql, [value]);
    return row === undefined ? undefined : taskOf(row);
  }

  async #ids(condition: string, ...values: unknown[]): Promise<string[]> {
    const sql = `SELECT id FROM tasks WHERE ${condition}`;
    const rows = await this.#database.query<{ id: string }>(sql, values);
    return rows.map(({ id }) => id);
  }
}

/** Counts waiting tasks by owner; an owner is the JSON of its columns. */
async function waitingByOwner(
  database: PostgresDatabase,
  owners: readonly string[],
): Promise<Map<string, number>> {
  const columns = owners.map((owner) => JSON.parse(owner) as [string, string]);
  const rows = await database.query<{ owner_org: string; owner: string; tasks: number }>(
    `SELECT owner_org, owner, count(*) AS tasks FROM tasks WHERE state = 'deferred'
      AND (owner_org, owner) IN (SELECT * FROM unnest($1::text[], $2::text[]))
      GROUP BY owner_org, owner`,
    [columns.map(([org]) => org), columns.map(([, owner]) => owner)],
  );
  return new Map(rows.map((row) => [JSON.stringify([row.owner_org, row.owner]), row.tasks]));
}
