import type { DatabaseSync } from 'node:sqlite';
import type { ChatMessage, Turn } from '../../../machines/channels/turn.ts';
import type { ConversationRows } from '../store/conversation-rows.ts';

/** Chat messages: unanswered messages, and the ids of answered ones. */
export class SqliteConversationRows implements ConversationRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** Stores a message at a time in epoch milliseconds; returns whether it is new. */
  async take(turn: Turn, at: number): Promise<boolean> {
    const { adapter, id } = turn.message;
    return Number(this.#sql.take.run(adapter, id, at, JSON.stringify(turn)).changes) === 1;
  }

  /** Saves the progress of a message's answer. */
  async keep(turn: Turn): Promise<void> {
    const { adapter, id } = turn.message;
    this.#sql.keep.run(JSON.stringify(turn), adapter, id);
  }

  /** Deletes the content of an answered message, but keeps its id. */
  async close({ adapter, id }: Pick<ChatMessage, 'adapter' | 'id'>): Promise<void> {
    this.#sql.close.run(adapter, id);
  }

  /** Returns the unanswered messages, in the order of arrival. */
  async open(): Promise<Turn[]> {
    // Safe to cast: the column contains only values written by `take` and `keep`.
    return this.#sql.open.all().map((row) => JSON.parse(String(row['turn'])) as Turn);
  }

  /** Deletes the ids of answered messages received before a time; returns their number. */
  async prune(at: number): Promise<number> {
    return Number(this.#sql.prune.run(at).changes);
  }
}

function prepare(database: DatabaseSync) {
  return {
    take: database.prepare(`INSERT INTO conversation_turns (adapter, id, taken_at, turn)
      VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`),
    keep: database.prepare(`UPDATE conversation_turns SET turn = ?
      WHERE adapter = ? AND id = ? AND turn IS NOT NULL`),
    close: database.prepare(
      'UPDATE conversation_turns SET turn = NULL WHERE adapter = ? AND id = ?',
    ),
    open: database.prepare(
      'SELECT turn FROM conversation_turns WHERE turn IS NOT NULL ORDER BY position',
    ),
    prune: database.prepare('DELETE FROM conversation_turns WHERE turn IS NULL AND taken_at < ?'),
  };
}
