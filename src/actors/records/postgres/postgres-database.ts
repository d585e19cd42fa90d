import type { Socket } from 'node:net';
import type * as library from 'pg';
import type { Client, ClientConfig, Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import { UnreachableError } from '../store/task-store.ts';
import { isServerGone } from './server-failure.ts';

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
}

/** The time that a statement may take, in milliseconds; a lock is given up sooner. */
const statementPatience = 10_000;

/** The time after which a server that does not answer at all is taken for gone, in milliseconds. */
const answerPatience = statementPatience + 2_000;

/** The time that a connection may take to end in good order, in milliseconds. */
const endPatience = 1_000;

/** PostgreSQL tells of a client that is cut off after at most six seconds, and lets go of its locks. */
const settings = (schema: string): string =>
  Object.entries({
    search_path: schema,
    statement_timeout: statementPatience,
    lock_timeout: statementPatience - 2_000,
    idle_in_transaction_session_timeout: statementPatience,
    tcp_keepalives_idle: 3,
    tcp_keepalives_interval: 1,
    tcp_keepalives_count: 3,
    tcp_user_timeout: 6_000,
  })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** The numbers of PostgreSQL that a driver reads as text: all that are kept here fit into a number. */
const bigint = 20;

const ignore = (): void => undefined;

type Library = typeof library;

/** The connections to the database of an agent. */
export class PostgresDatabase {
  readonly schema: string;
  readonly #pool: Pool;
  readonly #newClient: () => Client;
  /** The connections for whoever asks, as long as they are there. */
  readonly #pooled = new Set<Client>();

  private constructor(driver: Library, { url, schema, pool }: PostgresAddress) {
    this.schema = schema;
    const config = (): ClientConfig => ({
      connectionString: url(),
      options: settings(schema),
      application_name: 'holdpoint',
      connectionTimeoutMillis: 5_000,
      query_timeout: answerPatience,
      keepAlive: true,
      keepAliveInitialDelayMillis: 3_000,
      types: {
        getTypeParser: ((oid: number, format: never) =>
          oid === bigint ? Number : (driver.types.getTypeParser(oid, format) as unknown)) as never,
      },
    });
    const pooled = this.#pooled;
    // Whoever asks a connection next hears of its end, and it may come when nobody does any more.
    const quiet = class extends driver.Client {
      constructor() {
        super(config());
        this.on('error', ignore);
      }
    };
    const fresh = class extends quiet {
      constructor() {
        super();
        pooled.add(this);
        this.once('end', () => pooled.delete(this));
      }
    };
    this.#newClient = () => new quiet();
    this.#pool = new driver.Pool({ max: pool, idleTimeoutMillis: 30_000, Client: fresh as never });
    this.#pool.on('error', ignore);
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
      return (await this.#pool.query<Row>(text, values)).rows;
    } catch (error) {
      throw isServerGone(error) ? new UnreachableError(error) : error;
    }
  }

  /** Runs the statements of the job engine, which reads the driver's own results. */
  executeSql = (text: string, values?: unknown[]): Promise<QueryResult> =>
    this.#pool.query(text, values);

  /** Runs statements in one transaction, which is rolled back when `run` rejects; its errors are the driver's own. */
  async transaction<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    let failure: unknown = null;
    try {
      await client.query('BEGIN');
      const result = await run(client);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      failure = error;
      if (!isServerGone(error)) await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      client.release(failure !== null && isServerGone(failure));
    }
  }

  /** Opens a connection of its own; the caller ends it. */
  async connect() {
    const client = this.#newClient();
    await client.connect();
    return client;
  }

  /** Closes every connection but those that have a caller of their own. */
  async close(): Promise<void> {
    const timer = setTimeout(() => {
      for (const client of this.#pooled) cutOff(client);
    }, endPatience);
    await this.#pool.end().finally(() => clearTimeout(timer));
  }
}

/** Ends a connection in good order, or without it when the server does not answer. */
export async function endConnection(client: Client): Promise<void> {
  const timer = setTimeout(() => cutOff(client), endPatience);
  await client
    .end()
    .catch(ignore)
    .finally(() => clearTimeout(timer));
}

/** Ends a connection at once; whoever waits for an answer hears of its end. */
export function cutOff(client: Client): void {
  const { connection } = client as unknown as { connection: { stream: Socket } };
  connection.stream.destroy();
}

function hasNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}
