import { z } from 'zod';
import type { PostgresDatabase } from './postgres-database.ts';

const places = z.array(z.object({ address: z.string(), port: z.int() })).max(1_000);

/** An address and a port at which a daemon listens. */
export type ListeningPlace = z.infer<typeof places>[number];

/** Tells the daemons over one schema where each of them listens. */
export class FellowDaemons {
  readonly #database: PostgresDatabase;
  readonly #replica: string;
  readonly #hearers = new Set<(fellows: readonly ListeningPlace[]) => void>();
  readonly #known = new Set<string>();
  /** Where this daemon listens, as it stands in its row. */
  listens = '[]';

  constructor(database: PostgresDatabase, replica: string) {
    this.#database = database;
    this.#replica = replica;
  }

  /** Writes where this daemon listens, and has the others read it. Rejects with the driver's error. */
  async tell(own: readonly ListeningPlace[], channel: string): Promise<void> {
    this.listens = JSON.stringify(own);
    await this.#database.query(
      'WITH told AS (UPDATE replicas SET listens = $2 WHERE id = $1) SELECT pg_notify($3, $1)',
      [this.#replica, this.listens, channel],
    );
  }

  /** Has somebody hear where the others listen, now and whenever it is read anew. Rejects with the driver's error. */
  async follow(hear: (fellows: readonly ListeningPlace[]) => void): Promise<void> {
    this.#hearers.add(hear);
    await this.#read();
  }

  /** Hears who has committed; one that is new here, or nobody in particular, has the addresses read anew. */
  heard(replica: string | null): void {
    if (this.#hearers.size === 0 || (replica !== null && this.#known.has(replica))) return;
    // The next look comes within seconds.
    void this.#read().catch(() => undefined);
  }

  async #read(): Promise<void> {
    const rows = await this.#database.query<{ id: string; listens: string }>(
      `SELECT id, listens FROM replicas WHERE id <> $1 AND gone_at IS NULL AND seen_at > 'epoch'`,
      [this.#replica],
    );
    this.#known.clear();
    for (const { id, listens } of rows) {
      // One that has not said where it listens is looked at again.
      if (listens !== '[]') this.#known.add(id);
    }
    const fellows = rows.flatMap(({ listens }) => placesIn(listens));
    for (const hear of this.#hearers) hear(fellows);
  }
}

/** Another release may have written what is read here. */
function placesIn(text: string): ListeningPlace[] {
  try {
    return places.safeParse(JSON.parse(text)).data ?? [];
  } catch {
    return [];
  }
}
