import type { Client } from 'pg';

/** Something that one daemon alone has, until its connection is gone. */
export interface SessionLock {
  /** Resolves when it was lost, and when it was let go of. */
  readonly lost: Promise<void>;
  release(): Promise<void>;
}

/** Locks of one connection, each of which one daemon can have. */
export class SessionLocks {
  readonly #client: Client;
  readonly #held = new Map<string, () => void>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Takes the lock of a name; `null` while somebody has it. Rejects with the driver's error. */
  async take(name: string): Promise<SessionLock | null> {
    // The server would give it to one connection several times.
    if (this.#held.has(name)) return null;
    const { promise: lost, resolve } = Promise.withResolvers<void>();
    this.#held.set(name, resolve);
    const isTaken = await this.#ask('pg_try_advisory_lock', name).catch((error: unknown) => {
      this.#held.delete(name);
      throw error;
    });
    if (!isTaken) this.#held.delete(name);
    return isTaken ? { lost, release: () => this.#release(name) } : null;
  }

  /** Has whoever holds one know that the connection is gone. */
  lose(): void {
    for (const lost of this.#held.values()) lost();
    this.#held.clear();
  }

  async #release(name: string): Promise<void> {
    const lost = this.#held.get(name);
    if (lost === undefined) return;
    await this.#ask('pg_advisory_unlock', name);
    this.#held.delete(name);
    lost();
  }

  async #ask(verb: string, name: string): Promise<boolean> {
    const { rows } = await this.#client.query<{ is: boolean }>(
      `SELECT ${verb}(hashtextextended($1, 0)) AS is`,
      [name],
    );
    return rows[0]?.is === true;
  }
}
