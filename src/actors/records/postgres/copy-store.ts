import type { DatabaseSync } from 'node:sqlite';
import type { PoolClient } from 'pg';
import type { PgBoss } from 'pg-boss';
import type { ClosedLog } from '../sqlite/close-source.ts';
import { openSource } from '../sqlite/source-store.ts';
import { StoreError } from '../store/store-error.ts';
import { type CopiedJobs, copyJobs } from './copy-jobs.ts';
import { copyLines } from './copy-lines.ts';
import { copyRows } from './copy-rows.ts';
import { databaseError } from './database-error.ts';
import { jobSchemaOf, startEngine } from './job-queues.ts';
import { migrateStore, type StoreAddress } from './migrate-store.ts';
import { PostgresDatabase } from './postgres-database.ts';

/** Result of a copy. */
export interface StoreCopy {
  /** Number of rows by table. */
  rows: Record<string, number>;
  jobs: CopiedJobs;
  /** Number of log lines. */
  lines: number;
}

/**
 * Copies an unused SQLite store and its log into the empty tables of the same agent in one transaction, so that the
 * agent and the chain of its log continue there. On a StoreError nothing is copied.
 *
 * @param source path of the SQLite file
 */
export async function copyStore(
  address: StoreAddress,
  source: string,
  log: ClosedLog,
): Promise<StoreCopy> {
  await migrateStore(address);
  const database = await PostgresDatabase.load({ ...address, pool: 2 });
  const rows = openSource(source);
  let boss: PgBoss | null = null;
  try {
    const engine = await startEngine(database, jobSchemaOf(address.schema), {
      supervise: false,
      schedule: false,
      onError: () => undefined,
    });
    boss = engine;
    return await database.transaction((client) =>
      copyAll(client, { ...address, source: rows, log, boss: engine }),
    );
  } catch (error) {
    throw databaseError(error, address);
  } finally {
    rows.close();
    await boss?.stop({ graceful: false, close: false });
    await database.close();
  }
}

interface CopyParts {
  schema: string;
  source: DatabaseSync;
  log: ClosedLog;
  boss: PgBoss;
}

async function copyAll(
  client: PoolClient,
  { schema, source, log, boss }: CopyParts,
): Promise<StoreCopy> {
  // A copy may exceed the statement timeout of a daemon.
  await client.query(
    'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
  );
  await checkEmpty(client, schema);
  const rows = await copyRows(source, client);
  const last = await copyLines(log.files, log.first, client);
  if (last !== log.events) {
    throw new StoreError(
      `the audit log ends with line ${last}, and its store knows ${log.events}; restore the log and the store that belong together`,
    );
  }
  await client.query('UPDATE audit_head SET events = $1, hash = $2, checkpointed = $3', [
    log.events,
    log.hash,
    log.checkpointed,
  ]);
  const jobs = await copyJobs(boss, client);
  return { rows, jobs, lines: last - log.first + 1 };
}

/** A daemon that has started over the tables has already written to their log. */
async function checkEmpty(client: PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<{ events: number; tasks: boolean }>(
    'SELECT events, EXISTS (SELECT 1 FROM tasks) AS tasks FROM audit_head FOR UPDATE',
  );
  if (rows[0]?.events === 0 && !rows[0].tasks) return;
  throw new StoreError(
    `the schema ${schema} is not empty; set store.schema to a new name, or drop ${schema} and ${jobSchemaOf(schema)} when nothing in them is needed`,
  );
}
