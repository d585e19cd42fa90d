import type { Client } from 'pg';

/** A lock that one daemon holds until its connection is lost. */
export interface SessionLock {
  /** Resolves when the lock is lost or released. */
  readonly lost: Promise<void>;
  release(): Promise<void>;
}

/** Exclusive locks held by one connection. */
export class SessionLocks {
  readonly #client: Client;
  readonly #held = new Map<string, () => void>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Acquires a named lock; `null` while it is held. Rejects with the driver's error. */
  async take(name: string): Promise<SessionLock | null> {
    // PostgreSQL would grant it several times to the same connection.
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

  /** Notifies all holders that the connection is lost. */
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
