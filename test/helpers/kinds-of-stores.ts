import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { sha256Hex } from '../../src/actors/records/log/node-crypto.ts';
import { verifyChain } from '../../src/actors/records/log/verify-chain.ts';
import {
  PostgresStore,
  type PostgresStoreOptions,
} from '../../src/actors/records/postgres/postgres-store.ts';
import { SqliteStore } from '../../src/actors/records/sqlite/sqlite-store.ts';
import type { TaskStore } from '../../src/actors/records/store/task-store.ts';
import { type PostgresServer, sharedPostgres } from './postgres-server.ts';
import { storeFiles, temporaryFolder } from './test-system.ts';

/** A line of the log, as far as tests look at it. */
interface Line {
  event: string;
  task_id?: string;
  seq?: number;
}

/** Where the stores of one test keep what they are given; all that were opened there are closed after it. */
export interface StorePlace {
  /** Opens a store; several share the place. */
  open(): Promise<TaskStore>;
  /** The lines of the log, oldest first, once it has been found to verify. */
  lines(): Promise<Line[]>;
  /** Runs a statement that both kinds of databases know, behind the back of the stores. */
  execute(sql: string): Promise<Record<string, unknown>[]>;
}

/** The kinds of stores, for tests of what all of them do. */
export const kindsOfStores: readonly { kind: string; make: () => Promise<StorePlace> }[] = [
  { kind: 'SQLite', make: sqlitePlace },
  { kind: 'PostgreSQL', make: () => postgresPlace() },
];

async function sqlitePlace(): Promise<StorePlace> {
  const folder = temporaryFolder();
  return {
    open: async () => closedAfterTest(await SqliteStore.open(storeFiles(folder))),
    lines: () => verified(readFileSync(storeFiles(folder).audit.path, 'utf8')),
    execute: async (sql) => {
      const database = new DatabaseSync(storeFiles(folder).path);
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    },
  };
}

/** A place in a database of its own, which goes with its test. */
export interface PostgresPlace extends StorePlace {
  database: string;
  open(options?: Partial<PostgresStoreOptions>): Promise<PostgresStore>;
}

/** Makes an empty database on a server; the one that all tests share unless another is given. */
export async function postgresPlace(given?: PostgresServer): Promise<PostgresPlace> {
  const server = given ?? (await sharedPostgres());
  const database = await server.createDatabase();
  if (given === undefined) onTestFinished(() => server.dropDatabase(database));
  await server.query(`ALTER DATABASE ${database} SET search_path = holdpoint`);
  const query = (sql: string) => server.query(sql, [], database);
  return {
    database,
    open: async (options = {}) => {
      const store = await PostgresStore.open({
        ...{ url: () => server.url(database), schema: 'holdpoint', pool: 4, agentId: 'refunds' },
        ...{ audit: { chain: true, signer: null }, log: silent },
        ...options,
      });
      return closedAfterTest(store);
    },
    lines: async () => {
      const rows = await query('SELECT text FROM audit_lines ORDER BY line');
      return verified(rows.map(({ text }) => `${String(text)}\n`).join(''));
    },
    execute: query,
  };
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

function closedAfterTest<Store extends TaskStore>(store: Store): Store {
  onTestFinished(() => store.close());
  return store;
}

async function verified(text: string): Promise<Line[]> {
  if (text === '') return [];
  const verdict = await verifyChain([{ name: 'log', chunks: oneChunk(text) }], sha256Hex, {});
  if (!verdict.ok) throw new Error(`the log does not verify: ${JSON.stringify(verdict)}`);
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
