import type { DatabaseSync } from 'node:sqlite';
import type { SentMessage } from '../store/message-key.ts';
import type { MessageRows } from '../store/task-rows.ts';

/** Which message of whom led to which task; a row goes with its task. */
export class SqliteMessageRows implements MessageRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** Returns the id of the task that a message led to. */
  async find(key: string): Promise<string | undefined> {
    const row = this.#sql.find.get(key);
    return row === undefined ? undefined : String(row['task_id']);
  }

  /** Forgets a message that led to a task, unless it leads to another one by now. */
  async forget(key: string, taskId: string): Promise<void> {
    this.#sql.drop.run(key, taskId);
  }

  /** Stores where a message led to; returns whether it had led nowhere else. */
  take({ key, supersedes }: SentMessage, taskId: string): boolean {
    return Number(this.#sql.take.run(key, taskId, supersedes).changes) === 1;
  }

  /** Forgets a message that led to a task. */
  drop({ key }: SentMessage, taskId: string): void {
    this.#sql.drop.run(key, taskId);
  }
}

function prepare(database: DatabaseSync) {
  return {
    find: database.prepare('SELECT task_id FROM sent_messages WHERE key = ?'),
    take: database.prepare(`INSERT INTO sent_messages (key, task_id) VALUES (?1, ?2)
      ON CONFLICT (key) DO UPDATE SET task_id = ?2 WHERE task_id = ?3`),
    drop: database.prepare('DELETE FROM sent_messages WHERE key = ? AND task_id = ?'),
  };
}
