import type { DatabaseSync } from 'node:sqlite';
import type { ChatMessage, Turn } from '../../../machines/channels/turn.ts';
import type { ConversationRows } from '../store/conversation-rows.ts';

/** What was said to the agent in chats: messages without their last word, and the ids of those that have it. */
export class SqliteConversationRows implements ConversationRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    database.exec(`CREATE TABLE IF NOT EXISTS conversation_turns (
      position INTEGER PRIMARY KEY,
      adapter TEXT NOT NULL,
      id TEXT NOT NULL,
      taken_at INTEGER NOT NULL,
      turn TEXT,
      UNIQUE (adapter, id)
    )`);
    database.exec(`CREATE INDEX IF NOT EXISTS conversation_turns_by_time
      ON conversation_turns (taken_at)`);
    this.#sql = prepare(database);
  }

  /** Stores a message at a time in epoch milliseconds; returns whether it is new. */
  async take(turn: Turn, at: number): Promise<boolean> {
    const { adapter, id } = turn.message;
    return Number(this.#sql.take.run(adapter, id, at, JSON.stringify(turn)).changes) === 1;
  }

  /** Keeps how far the answer to a message is. */
  async keep(turn: Turn): Promise<void> {
    const { adapter, id } = turn.message;
    this.#sql.keep.run(JSON.stringify(turn), adapter, id);
  }

  /** Forgets what a message said, which has had its last word, but not that it was heard. */
  async close({ adapter, id }: Pick<ChatMessage, 'adapter' | 'id'>): Promise<void> {
    this.#sql.close.run(adapter, id);
  }

  /** Returns the messages without a last word, in the order in which they were taken in. */
  async open(): Promise<Turn[]> {
    // The column holds what `take` and `keep` put there.
    return this.#sql.open.all().map((row) => JSON.parse(String(row['turn'])) as Turn);
  }

  /** Forgets the ids of answered messages that were taken in before a time; returns how many. */
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
