import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { ChannelNameRows } from '../store/channel-name-rows.ts';

/** Channels to which chat names first resolved, in the agent's store. */
export class SqliteChannelNameRows implements ChannelNameRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = {
      find: database.prepare('SELECT id FROM channel_names WHERE adapter = ? AND name = ?'),
      keep: database.prepare('INSERT INTO channel_names VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    };
  }

  /** Returns the id to which a name of an adapter first resolved. */
  async find(adapter: string, name: string): Promise<string | undefined> {
    const id = this.#sql.find.get(adapter, name)?.['id'];
    return id === undefined ? undefined : String(id);
  }

  /** Stores the id of a name that has none. */
  async keep(adapter: string, name: string, id: string): Promise<void> {
    this.#sql.keep.run(adapter, name, id);
  }
}

/**
 * Reads the stored channel ids of an adapter from the store at a path, which may be in use; empty if it cannot be read.
 */
export function readChannelNames(path: string, adapter: string): ReadonlyMap<string, string> {
  if (!existsSync(path)) return new Map();
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = database.prepare('SELECT name, id FROM channel_names WHERE adapter = ?');
    return new Map(rows.all(adapter).map(({ name, id }) => [String(name), String(id)]));
  } catch {
    // Another check reports a store that is damaged or that another build wrote.
    return new Map();
  } finally {
    database.close();
  }
}
