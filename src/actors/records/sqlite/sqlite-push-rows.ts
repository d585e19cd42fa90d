import type { DatabaseSync } from 'node:sqlite';
import type { PushTarget } from '../../ports/push.ts';
import type { OpenTarget, PushRows } from '../store/push-rows.ts';

/** Push notification receivers in the agent's store. */
export class SqlitePushRows implements PushRows {
  readonly #sql;
  /** Cached, since most agents never have a receiver and every task change asks. */
  #hasAny: boolean;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
    this.#hasAny = database.prepare('SELECT 1 FROM push_targets LIMIT 1').get() !== undefined;
  }

  /**
   * Inserts or replaces a receiver. A replacement inherits the last delivered revision; a new one starts at `told`.
   * Resolves with the inherited revision if the replaced receiver had not been notified of its task's end; `null`
   * otherwise.
   */
  async put(target: PushTarget, told: number): Promise<number | null> {
    this.#hasAny = true;
    const before = this.#sql.openOne.get(target.taskId, target.id);
    this.#sql.put.run(target.taskId, target.id, told, JSON.stringify(target));
    return before === undefined ? null : Number(before['told']);
  }

  async find(taskId: string, id: string): Promise<PushTarget | undefined> {
    return (await this.list(taskId)).find((target) => target.id === id);
  }

  /** Returns the receivers of a task, sorted by id. */
  async list(taskId: string): Promise<PushTarget[]> {
    if (!this.#hasAny) return [];
    return this.#sql.list.all(taskId).map((row) => targetOf(row['target']));
  }

  /** Deletes a receiver; returns whether it existed. */
  async delete(taskId: string, id: string): Promise<boolean> {
    return Number(this.#sql.delete.run(taskId, id).changes) === 1;
  }

  /** Saves the last delivered revision of a receiver. */
  async keepTold({ taskId, id }: PushTarget, revision: number, isClosed: boolean): Promise<void> {
    this.#sql.told.run(revision, isClosed ? 1 : 0, taskId, id);
  }

  /** Returns the receivers that have not been notified of the end of their task's last run. */
  async open(): Promise<OpenTarget[]> {
    return this.#sql.open
      .all()
      .map((row) => ({ target: targetOf(row['target']), told: Number(row['told']) }));
  }

  /** Deletes receivers of tasks that were never created. */
  async deleteOrphans(): Promise<void> {
    this.#sql.deleteOrphans.run();
  }
}

/** Safe to cast: the column contains only values written by `put`. */
function targetOf(value: unknown): PushTarget {
  return JSON.parse(String(value)) as PushTarget;
}

/** A closed receiver is open again if its task has run since the last notification. */
const isOpen = '(is_closed = 0 OR told < (SELECT revision FROM tasks WHERE tasks.id = task_id))';

function prepare(database: DatabaseSync) {
  return {
    put: database.prepare(`INSERT INTO push_targets VALUES (?1, ?2, ?3, 0, ?4)
      ON CONFLICT (task_id, id) DO UPDATE SET target = ?4, is_closed = 0`),
    list: database.prepare('SELECT target FROM push_targets WHERE task_id = ? ORDER BY id'),
    delete: database.prepare('DELETE FROM push_targets WHERE task_id = ? AND id = ?'),
    told: database.prepare(
      'UPDATE push_targets SET told = ?, is_closed = ? WHERE task_id = ? AND id = ?',
    ),
    openOne: database.prepare(
      `SELECT told FROM push_targets WHERE task_id = ? AND id = ? AND ${isOpen}`,
    ),
    open: database.prepare(`SELECT told, target FROM push_targets WHERE ${isOpen}`),
    deleteOrphans: database.prepare(
      'DELETE FROM push_targets WHERE task_id NOT IN (SELECT id FROM tasks)',
    ),
  };
}
