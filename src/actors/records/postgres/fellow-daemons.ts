import { z } from 'zod';
import { parseJson } from '../../../machines/json.ts';
import type { PostgresDatabase } from './postgres-database.ts';

const places = z.array(z.object({ address: z.string(), port: z.int() })).max(1_000);

/** A listening address and port of a daemon. */
export type ListeningPlace = z.infer<typeof places>[number];

/** Shares the listening addresses of the daemons over one schema. */
export class FellowDaemons {
  readonly #database: PostgresDatabase;
  readonly #replica: string;
  readonly #hearers = new Set<(fellows: readonly ListeningPlace[]) => void>();
  readonly #known = new Set<string>();
  /** This daemon's listening addresses, as stored in its row. */
  listens = '[]';

  constructor(database: PostgresDatabase, replica: string) {
    this.#database = database;
    this.#replica = replica;
  }

  /** Stores this daemon's listening addresses and notifies the others. Rejects with the driver's error. */
  async tell(own: readonly ListeningPlace[], channel: string): Promise<void> {
    this.listens = JSON.stringify(own);
    await this.#database.query(
      'WITH told AS (UPDATE replicas SET listens = $2 WHERE id = $1) SELECT pg_notify($3, $1)',
      [this.#replica, this.listens, channel],
    );
  }

  /**
   * Subscribes to the listening addresses of the other daemons; calls the listener now and after each read. Rejects
   * with the driver's error.
   */
  async follow(hear: (fellows: readonly ListeningPlace[]) => void): Promise<void> {
    this.#hearers.add(hear);
    await this.#read();
  }

  /** Handles a commit notification; an unknown or unnamed daemon triggers a new read of the addresses. */
  heard(replica: string | null): void {
    if (this.#hearers.size === 0 || (replica !== null && this.#known.has(replica))) return;
    // The next read follows within seconds.
    void this.#read().catch(() => undefined);
  }

  async #read(): Promise<void> {
    const rows = await this.#database.query<{ id: string; listens: string }>(
      `SELECT id, listens FROM replicas WHERE id <> $1 AND gone_at IS NULL AND seen_at > 'epoch'`,
      [this.#replica],
    );
    this.#known.clear();
    for (const { id, listens } of rows) {
      // A daemon without addresses is checked again.
      if (listens !== '[]') this.#known.add(id);
    }
    const fellows = rows.flatMap(({ listens }) => placesIn(listens));
    for (const hear of this.#hearers) hear(fellows);
  }
}

/** Another release may have written an unknown format. */
function placesIn(text: string): ListeningPlace[] {
  return places.safeParse(parseJson(text)).data ?? [];
}
