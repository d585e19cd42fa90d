import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { ChannelNameRows } from '../store/channel-name-rows.ts';

/** Which channel of a chat a name stands for, as it was first found, in the store of an agent. */
export class SqliteChannelNameRows implements ChannelNameRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    database.exec(`CREATE TABLE IF NOT EXISTS channel_names (
      adapter TEXT NOT NULL,
      name TEXT NOT NULL,
      id TEXT NOT NULL,
      PRIMARY KEY (adapter, name)
    ) WITHOUT ROWID`);
    this.#sql = {
      find: database.prepare('SELECT id FROM channel_names WHERE adapter = ? AND name = ?'),
      keep: database.prepare('INSERT INTO channel_names VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    };
  }

  /** Returns the id that a name of an adapter was first found to stand for. */
  async find(adapter: string, name: string): Promise<string | undefined> {
    const id = this.#sql.find.get(adapter, name)?.['id'];
    return id === undefined ? undefined : String(id);
  }

  /** Keeps the id of a name that has none. */
  async keep(adapter: string, name: string, id: string): Promise<void> {
    this.#sql.keep.run(adapter, name, id);
  }
}

/** Reads the ids that names of an adapter stand for from the store at a path, which may be in use; none when it cannot be read. */
export function readChannelNames(path: string, adapter: string): ReadonlyMap<string, string> {
  if (!existsSync(path)) return new Map();
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = database.prepare('SELECT name, id FROM channel_names WHERE adapter = ?');
    return new Map(rows.all(adapter).map(({ name, id }) => [String(name), String(id)]));
  } catch {
    // A store of an older release has no such table, and a damaged one is another check's matter.
    return new Map();
  } finally {
    database.close();
  }
}
