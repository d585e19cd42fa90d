import type { PushTarget } from '../../ports/push.ts';
import type { OpenTarget, PushRows } from '../store/push-rows.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { ReadBatch } from './read-batch.ts';

/** A closed receiver is open again if its task has run since the last notification. */
const isOpen = '(NOT is_closed OR told < (SELECT revision FROM tasks WHERE tasks.id = task_id))';

/** Push notification receivers in PostgreSQL. */
export class PostgresPushRows implements PushRows {
  readonly #database: PostgresDatabase;
  readonly #lists: ReadBatch<PushTarget[]>;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.#lists = new ReadBatch(async (taskIds) => {
      const rows = await database.query<{ target: string }>(
        'SELECT target FROM push_targets WHERE task_id = ANY($1::text[]) ORDER BY id COLLATE "C"',
        [taskIds],
      );
      return Map.groupBy(
        rows.map(({ target }) => targetOf(target)),
        ({ taskId }) => taskId,
      );
    });
  }

  async put(target: PushTarget, told: number): Promise<number | null> {
    const [before] = await this.#database.query<{ told: number | null }>(
      `WITH before AS (
        SELECT told FROM push_targets WHERE task_id = $1 AND id = $2 AND ${isOpen} FOR UPDATE
      ), kept AS (
        INSERT INTO push_targets (task_id, id, told, is_closed, target)
        VALUES ($1, $2, coalesce((SELECT told FROM before), $3), false, $4)
        ON CONFLICT (task_id, id) DO UPDATE SET target = $4, is_closed = false
      )
      SELECT told FROM before`,
      [target.taskId, target.id, told, JSON.stringify(target)],
    );
    return before?.told ?? null;
  }

  async find(taskId: string, id: string): Promise<PushTarget | undefined> {
    return (await this.list(taskId)).find((target) => target.id === id);
  }

  async list(taskId: string): Promise<PushTarget[]> {
    return (await this.#lists.get(taskId)) ?? [];
  }

  async delete(taskId: string, id: string): Promise<boolean> {
    const sql = 'DELETE FROM push_targets WHERE task_id = $1 AND id = $2 RETURNING id';
    return (await this.#database.query(sql, [taskId, id])).length === 1;
  }

  async keepTold({ taskId, id }: PushTarget, revision: number, isClosed: boolean): Promise<void> {
    await this.#database.query(
      'UPDATE push_targets SET told = $1, is_closed = $2 WHERE task_id = $3 AND id = $4',
      [revision, isClosed, taskId, id],
    );
  }

  async open(): Promise<OpenTarget[]> {
    const rows = await this.#database.query<{ told: number; target: string }>(
      `SELECT told, target FROM push_targets WHERE ${isOpen}`,
    );
    return rows.map(({ told, target }) => ({ target: targetOf(target), told }));
  }

  async deleteOrphans(): Promise<void> {
    await this.#database.query(
      'DELETE FROM push_targets WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = task_id)',
    );
  }
}

/** Safe to cast: the column contains only values written by `put`. */
function targetOf(text: string): PushTarget {
  return JSON.parse(text) as PushTarget;
}
