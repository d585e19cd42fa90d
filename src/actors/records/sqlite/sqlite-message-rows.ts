import type { DatabaseSync } from 'node:sqlite';
import type { SentMessage } from '../store/message-key.ts';
import type { MessageRows } from '../store/task-rows.ts';

/** The task of each sender's message; a row is deleted with its task. */
export class SqliteMessageRows implements MessageRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** Returns the id of a message's task. */
  async find(key: string): Promise<string | undefined> {
    const row = this.#sql.find.get(key);
    return row === undefined ? undefined : String(row['task_id']);
  }

  /** Deletes the entry of a message for a task, unless the message now belongs to another one. */
  async forget(key: string, taskId: string): Promise<void> {
    this.#sql.drop.run(key, taskId);
  }

  /** Assigns a message to a task; returns false if it belongs to another task. */
  take({ key, supersedes }: SentMessage, taskId: string): boolean {
    return Number(this.#sql.take.run(key, taskId, supersedes).changes) === 1;
  }

  /** Deletes the entry of a message for a task. */
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
