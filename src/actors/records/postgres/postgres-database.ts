import type * as library from 'pg';
import type { Client, PoolClient, QueryResult, QueryResultRow } from 'pg';
import type { Log } from '../../ports.ts';
import { UnreachableError } from '../store/task-store.ts';
import { connectionConfig } from './connection-config.ts';
import { ConnectionPool } from './connection-pool.ts';
import { databaseError } from './database-error.ts';
import { useFiledPassword } from './filed-password.ts';
import { UnconnectedError } from './postgres-connection.ts';
import { isConnectionLost, isServerGone } from './server-failure.ts';

/** How a database is reached. */
export interface PostgresAddress {
  /** Returns the URL; asked for each connection, so that a new password is taken up. */
  url: () => string;
  /** The variable with that URL, for what people are told. */
  variable?: string;
  /** The schema of the tables. */
  schema: string;
  /** Connections at most. */
  pool: number;
  /** Where it is told that no further connection is to be had; nowhere when left out. */
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
      const client = new driver.Client(connectionConfig({ url: address.url(), schema, parserOf }));
      useFiledPassword(client);
      // Whoever asks a connection next hears of its end, and it may come when nobody does any more.
      return client.on('error', ignore);
    };
    const explain = (error: unknown): string => this.explain(error);
    this.#pool = new ConnectionPool({ driver, newClient: this.#newClient, max, log, explain });
  }

  /** Loads the driver; nothing is asked yet. */
  static async load(address: PostgresAddress): Promise<PostgresDatabase> {
    const { default: driver } = await import('pg');
    return new PostgresDatabase(driver as unknown as Library, address);
  }

  /**
   * Runs one statement. A text that PostgreSQL cannot hold is in no row that is looked for. Rejects with UnreachableError
   * while the database cannot be asked.
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

  /** Runs the statements of the job engine, which reads the driver's own results. */
  executeSql = (text: string, values?: unknown[]): Promise<QueryResult> => {
    // It begins transactions within one text of several statements, and one that failed is still open.
    const isLostBy = (): boolean => true;
    return this.#lend((client) => client.query(text, values), isLostBy).catch((error: unknown) => {
      // It keeps of an error its code and its words, and not what caused it.
      throw error instanceof UnreachableError ? error.cause : error;
    });
  };

  /**
   * Runs statements in one transaction, which is rolled back when `run` rejects. Rejects with UnconnectedError when there
   * is no connection; any other error is the driver's own.
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

  /** Opens a connection of its own; the caller ends it. Rejects with UnconnectedError. */
  async connect(): Promise<Client> {
    try {
      const client = this.#newClient();
      await client.connect();
      return client;
    } catch (error) {
      throw new UnconnectedError(error);
    }
  }

  /** Says in a sentence what is wrong and what to do, without an address or a password. */
  explain(error: unknown): string {
    return databaseError(error, this.#address).message;
  }

  /** Cuts every connection off but those that have a caller of their own; new ones are made when they are asked for. */
  cutOff(): void {
    this.#pool.cutOff();
  }

  /** Closes every connection but those that have a caller of their own. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  /** Lends a connection; one that is lost by an error is not lent again. */
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

function hasNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}
