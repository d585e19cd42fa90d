import type * as library from 'pg';
import type { Client, Pool, PoolClient } from 'pg';
import type { Log } from '../../ports/log.ts';
import { OutageNotice } from './outage-notice.ts';
import { cutOff, UnconnectedError } from './postgres-connection.ts';

/** Parameters of a connection pool. */
export interface PoolParts {
  driver: Pick<typeof library, 'Pool'>;
  /** Creates an unopened connection. */
  newClient: () => Client;
  /** Maximum number of connections. */
  max: number;
  log: Log;
  /** Converts a driver error to a sentence. */
  explain: (error: unknown) => string;
}

/** Time for connections to close cleanly, in milliseconds. */
const endPatience = 1_000;

/** Time without new connection attempts after one was refused while others are open, in milliseconds. */
const restAfterRefusal = 2_000;

/** Idle connections kept open, for times when no new one is available. */
const kept = 2;

const ignore = (): void => undefined;

/** The connection pool for statements. If no further connection can be opened, it continues with the open ones. */
export class ConnectionPool {
  readonly #pool: Pool;
  readonly #max: number;
  readonly #refusals: OutageNotice;
  readonly #made = new Set<Client>();
  readonly #standing = new Set<Client>();

  constructor({ driver, newClient, max, log, explain }: PoolParts) {
    this.#max = max;
    this.#refusals = new OutageNotice({
      log,
      explain,
      begins: 'store: no further database connection can be opened; existing ones remain in use',
      ends: 'store: connections to the database can be made again',
    });
    const made = this.#made;
    this.#pool = new driver.Pool({
      max,
      min: Math.min(kept, max),
      idleTimeoutMillis: 30_000,
      Client: pooledClients(newClient, made) as never,
    });
    this.#pool.on('error', ignore);
    this.#pool.on('connect', (client) => {
      this.#refusals.worked();
      this.#standing.add(client);
      client.once('end', () => this.#standing.delete(client));
    });
  }

  /** Acquires a connection, which the caller must release. Rejects with UnconnectedError if there is none. */
  async connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      if (this.#standing.size === 0) throw new UnconnectedError(error);
      this.#refusals.failed(error);
      this.#makeDo();
    }
    return this.#pool.connect().catch((error: unknown) => {
      throw new UnconnectedError(error);
    });
  }

  async close(): Promise<void> {
    const timer = setTimeout(() => this.cutOff(), endPatience);
    await this.#pool.end().finally(() => clearTimeout(timer));
  }

  /** Drops every connection immediately, without closing it cleanly. */
  cutOff(): void {
    this.#standing.clear();
    for (const client of this.#made) cutOff(client);
  }

  /** Makes callers wait for one of the open connections. */
  #makeDo(): void {
    this.#pool.options.max = this.#standing.size;
    setTimeout(() => {
      this.#pool.options.max = this.#max;
    }, restAfterRefusal).unref();
  }
}

/**
 * Returns a client class for the pool. If a client cannot be constructed, such as when a file named by its URL is
 * missing, it fails like a failed connection: the pool constructs clients where an exception could not be caught.
 */
function pooledClients(newClient: () => Client, made: Set<Client>) {
  return function PooledClient() {
    try {
      const client = newClient();
      made.add(client);
      return client.once('end', () => made.delete(client));
    } catch (error) {
      return unmadeClient(error);
    }
  };
}

function unmadeClient(error: unknown) {
  return {
    on: ignore,
    connect: (failed: (error: unknown) => void) => process.nextTick(failed, error),
  };
}
