import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { type KeyRows, keyLength } from '../store/key-rows.ts';

/** Random keys of an agent by purpose, in its store. */
export class SqliteKeyRows implements KeyRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = {
      find: database.prepare('SELECT key FROM agent_keys WHERE purpose = ?'),
      make: database.prepare('INSERT INTO agent_keys VALUES (?, ?) ON CONFLICT DO NOTHING'),
    };
  }

  /** Returns the key for a purpose; creates it if there is none. */
  async of(purpose: string): Promise<Buffer> {
    const find = () => this.#sql.find.get(purpose)?.['key'];
    if (find() === undefined) {
      this.#sql.make.run(purpose, randomBytes(keyLength).toString('base64url'));
    }
    return Buffer.from(String(find()), 'base64url');
  }
}
