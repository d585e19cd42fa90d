import type { Socket } from 'node:net';
import type * as library from 'pg';
import type { Client, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import type { Log } from '../../ports/log.ts';
import { UnreachableError } from '../store/task-store.ts';
import type { Statement } from './commit-batch.ts';
import { connectionConfig } from './connection-config.ts';
import { ConnectionPool } from './connection-pool.ts';
import { databaseError } from './database-error.ts';
import { useFiledPassword } from './filed-password.ts';
import { UnconnectedError } from './postgres-connection.ts';
import { isConnectionLost, isServerGone } from './server-failure.ts';

/** Connection settings of a database. */
export interface PostgresAddress {
  /** Returns the URL; called for each connection, so that a changed password takes effect. */
  url: () => string;
  /** The variable with that URL, for messages. */
  variable?: string;
  schema: string;
  /** Maximum number of connections. */
  pool: number;
  /** Log for failed attempts to open further connections; nothing is logged when absent. */
  log?: Log;
}

const ignore = (): void => undefined;
const silent: Log = { info: ignore, warn: ignore, error: ignore };

type Library = typeof library;

/** The connections to the database of an agent. */
export class PostgresDatabase {
  readonly schema: string;
  readonly #address: PostgresAddress;
  readonly #pool: ConnectionPool;
  readonly #newClient: () => Client;

  private constructor(driver: Library, address: PostgresAddress) {
    const { schema, pool: max, log = silent } = address;
    this.schema = schema;
    this.#address = address;
    this.#newClient = () => {
      const parserOf = (oid: number, format?: string): unknown =>
        driver.types.getTypeParser(oid, format as never);
      const config = connectionConfig({ url: address.url(), schema, parserOf });
      const client = new driver.Client({ ...config, pipeline: true });
      useFiledPassword(client);
      // An error may occur while the connection is unused; its next user also notices the end.
      return client.on('error', ignore);
    };
    const explain = (error: unknown): string => this.explain(error);
    this.#pool = new ConnectionPool({ driver, newClient: this.#newClient, max, log, explain });
  }

  /** Loads the driver; does not connect yet. */
  static async load(address: PostgresAddress): Promise<PostgresDatabase> {
    const { default: driver } = await import('pg');
    return new PostgresDatabase(driver as unknown as Library, address);
  }

  /**
   * Runs one statement. Returns no rows if a value contains text that PostgreSQL cannot store. Rejects with
   * UnreachableError while the database is unreachable.
   */
  async query<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    if (!text.trimStart().startsWith('INSERT') && values.some(hasNul)) return [];
    try {
      return (await this.#lend((client) => client.query<Row>(text, values))).rows;
    } catch (error) {
      if (error instanceof UnreachableError || !isServerGone(error)) throw error;
      throw new UnreachableError(error);
    }
  }

  /** Runs statements of the job engine, which expects the driver's own results. */
  executeSql = (text: string, values?: unknown[]): Promise<QueryResult> => {
    // The engine runs whole transactions as one text, so a failed one is still open on its connection.
    const isLostBy = (): boolean => true;
    return this.#lend((client) => client.query(text, values), isLostBy).catch((error: unknown) => {
      // The engine keeps only code and message of an error, not its cause.
      throw error instanceof UnreachableError ? error.cause : error;
    });
  };

  /**
   * Runs statements in one transaction, which is rolled back if `run` rejects. Rejects with UnconnectedError if there
   * is no connection; other errors are the driver's own.
   */
  transaction<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
    return this.#lend(async (client) => {
      await client.query('BEGIN');
      try {
        const result = await run(client);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        if (!isConnectionLost(error)) await client.query('ROLLBACK');
        throw error;
      }
    });
  }

  /**
   * Sends the statements of a transaction together, in one round trip, and returns their results. It is rolled back if one
   * fails, with the error of that one. With `read`, these statements are sent before, and `write` gets their results;
   * `null` from it ends the transaction without a change. Rejects like `transaction`.
   */
  pipelined(
    read: readonly Statement[],
    write: (read: QueryResult[]) => Promise<readonly Statement[] | null>,
  ): Promise<void> {
    return this.#lend(async (client) => {
      try {
        const found = read.length === 0 ? [] : await together(client, [begin, ...read]);
        const statements = (await write(found.slice(1))) ?? [];
        const first = read.length === 0 ? [begin] : [];
        await together(client, [...first, ...statements, commit]);
      } catch (error) {
        if (!isConnectionLost(error)) await client.query('ROLLBACK');
        throw error;
      }
    });
  }

  /** Opens a dedicated connection; the caller must close it. Rejects with UnconnectedError. */
  async connect(): Promise<Client> {
    try {
      const client = this.#newClient();
      await client.connect();
      return client;
    } catch (error) {
      throw new UnconnectedError(error);
    }
  }

  /** Describes an error and its remedy in a sentence, without address or password. */
  explain(error: unknown): string {
    return databaseError(error, this.#address).message;
  }

  /** Drops every pooled connection; new ones are opened on demand. */
  cutOff(): void {
    this.#pool.cutOff();
  }

  /** Closes every pooled connection. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  /** Acquires a connection for a callback; a connection lost by an error is not reused. */
  async #lend<Result>(
    run: (client: PoolClient) => Promise<Result>,
    isLostBy: (error: unknown) => boolean = isConnectionLost,
  ): Promise<Result> {
    const client = await this.#pool.connect();
    let isLost = false;
    try {
      return await run(client);
    } catch (error) {
      isLost = isLostBy(error);
      throw error;
    } finally {
      client.release(isLost);
    }
  }
}

const begin = { text: 'BEGIN', values: [] };
const commit = { text: 'COMMIT', values: [] };

/** Names of the prepared statements of all connections, by text. */
const names = new Map<string, string>();

function queryOf({ text, values, isPlannedAnew = false }: Statement): QueryConfig {
  if (values.length === 0) return { text };
  if (isPlannedAnew) return { text, values };
  const name = names.get(text) ?? `s${names.size}`;
  names.set(text, name);
  return { text, values, name };
}

/** Sends statements without waiting in between. After a failed one the server executes none. */
async function together(
  client: PoolClient,
  statements: readonly Statement[],
): Promise<QueryResult[]> {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.cork();
  const sent = statements.map((statement) => client.query(queryOf(statement)));
  stream.uncork();
  const results = await Promise.allSettled(sent);
  // The errors after the first one only say that the transaction failed.
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

function hasNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}
