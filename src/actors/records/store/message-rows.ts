import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Caller } from '../../../machines/task/task.ts';

/** A message that is known again when it comes a second time. */
export interface SentMessage {
  key: string;
  /** The task that it led to before, and that does not count any more; `null` for none. */
  supersedes: string | null;
}

/** Which message of whom led to which task; a row goes with its task. */
export class MessageRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** Returns the id of the task that a message led to. */
  find(key: string): string | undefined {
    const row = this.#sql.find.get(key);
    return row === undefined ? undefined : String(row['task_id']);
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

/**
 * Returns what a message is known by: a digest of the id that its sender gave it and of who that is, as
 * authentication established it. Without authentication all senders are one.
 */
export function messageKey(sender: Caller | null, messageId: string): string {
  const { provider, userId, orgId } = sender ?? {};
  return hash('sha256', JSON.stringify([provider, userId, orgId, messageId]), 'base64url');
}

function prepare(database: DatabaseSync) {
  return {
    find: database.prepare('SELECT task_id FROM sent_messages WHERE key = ?'),
    take: database.prepare(`INSERT INTO sent_messages (key, task_id) VALUES (?1, ?2)
      ON CONFLICT (key) DO UPDATE SET task_id = ?2 WHERE task_id = ?3`),
    drop: database.prepare('DELETE FROM sent_messages WHERE key = ? AND task_id = ?'),
  };
}
