import type { ChatMessage, Turn } from '../../../machines/channels/turn.ts';
import type { ConversationRows } from '../store/conversation-rows.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** Chat messages to the agent in PostgreSQL. */
export class PostgresConversationRows implements ConversationRows {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async take(turn: Turn, at: number): Promise<boolean> {
    const { adapter, id } = turn.message;
    const rows = await this.#database.query(
      `INSERT INTO conversation_turns (adapter, id, taken_at, turn) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING RETURNING position`,
      [adapter, id, at, JSON.stringify(turn)],
    );
    return rows.length === 1;
  }

  async keep(turn: Turn): Promise<void> {
    const { adapter, id } = turn.message;
    await this.#database.query(
      'UPDATE conversation_turns SET turn = $1 WHERE adapter = $2 AND id = $3 AND turn IS NOT NULL',
      [JSON.stringify(turn), adapter, id],
    );
  }

  async close({ adapter, id }: Pick<ChatMessage, 'adapter' | 'id'>): Promise<void> {
    await this.#database.query(
      'UPDATE conversation_turns SET turn = NULL WHERE adapter = $1 AND id = $2',
      [adapter, id],
    );
  }

  async open(): Promise<Turn[]> {
    const rows = await this.#database.query<{ turn: string }>(
      'SELECT turn FROM conversation_turns WHERE turn IS NOT NULL ORDER BY position',
    );
    // Safe to cast: the column contains only values written by `take` and `keep`.
    return rows.map(({ turn }) => JSON.parse(turn) as Turn);
  }

  async prune(at: number): Promise<number> {
    const sql =
      'DELETE FROM conversation_turns WHERE turn IS NULL AND taken_at < $1 RETURNING position';
    return (await this.#database.query(sql, [at])).length;
  }
}
