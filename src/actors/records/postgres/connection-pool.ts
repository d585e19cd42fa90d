import type * as library from 'pg';
import type { Client, Pool, PoolClient } from 'pg';
import type { Log } from '../../ports.ts';
import { OutageNotice } from './outage-notice.ts';
import { cutOff, UnconnectedError } from './postgres-connection.ts';

/** What connections are lent from. */
export interface PoolParts {
  driver: Pick<typeof library, 'Pool'>;
  /** Makes a connection that is not opened yet. */
  newClient: () => Client;
  /** Connections at most. */
  max: number;
  log: Log;
  /** Puts an error of the driver into a sentence. */
  explain: (error: unknown) => string;
}

/** The time that connections may take to end in good order, in milliseconds. */
const endPatience = 1_000;

/** Milliseconds for which no further connection is tried after one was refused, while others stand. */
const restAfterRefusal = 2_000;

/** Connections that stay when there is nothing to do, for times in which no new one is to be had. */
const kept = 2;

const ignore = (): void => undefined;

/** The connections that statements are run on. While no further one is to be had, it goes on with those that stand. */
export class ConnectionPool {
  readonly #pool: Pool;
  readonly #max: number;
  readonly #refusals: OutageNotice;
  readonly #made = new Set<Client>();
  readonly #standing = new Set<Client>();

  constructor({ driver, newClient, max, log, explain }: PoolParts) {
    this.#max = max;
    this.#refusals = new OutageNotice({
      ...{ log, explain },
      begins: 'store: no further connection to the database can be made; those that stand go on',
      ends: 'store: connections to the database can be made again',
    });
    const made = this.#made;
    this.#pool = new driver.Pool({
      ...{ max, min: Math.min(kept, max), idleTimeoutMillis: 30_000 },
      Client: pooledClients(newClient, made) as never,
    });
    this.#pool.on('error', ignore);
    this.#pool.on('connect', (client) => {
      this.#refusals.worked();
      this.#standing.add(client);
      client.once('end', () => this.#standing.delete(client));
    });
  }

  /** Lends a connection, which the caller releases. Rejects with UnconnectedError when there is none. */
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

  /** Closes every connection. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.cutOff(), endPatience);
    await this.#pool.end().finally(() => clearTimeout(timer));
  }

  /** Ends every connection at once, without a word to the server. */
  cutOff(): void {
    this.#standing.clear();
    for (const client of this.#made) cutOff(client);
  }

  /** Has whoever asks wait for one of the connections that stand. */
  #makeDo(): void {
    this.#pool.options.max = this.#standing.size;
    setTimeout(() => {
      this.#pool.options.max = this.#max;
    }, restAfterRefusal).unref();
  }
}

/**
 * Makes what a pool takes for the class of its connections. One that cannot be put together, as when a file that its URL
 * names is gone, fails as one that cannot be made does: the pool asks for it where nobody could catch that.
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
