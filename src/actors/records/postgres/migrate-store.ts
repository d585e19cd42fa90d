import { databaseError } from './database-error.ts';
import { jobSchemaOf, startEngine } from './job-queues.ts';
import { isMissing, knownVersion } from './known-schema.ts';
import { openSchema } from './open-schema.ts';
import { type PostgresAddress, PostgresDatabase } from './postgres-database.ts';

/** Location and owner of the tables to migrate. */
export interface StoreAddress extends Omit<PostgresAddress, 'pool'> {
  agentId: string;
}

/** Schema version before and after; `null` if there were no tables. */
export interface Versions {
  before: number | null;
  after: number;
}

/** Migrated versions: the agent's tables, and the job engine's tables. */
export interface Migration {
  tables: Versions;
  jobs: Versions;
}

/** Maximum connections of a migration. */
const connections = 2;

/**
 * Migrates the tables of an agent and its job engine, under the locks that daemons use at start-up. Rejects with
 * StoreError.
 */
export async function migrateStore(address: StoreAddress): Promise<Migration> {
  const database = await PostgresDatabase.load({ ...address, pool: connections });
  try {
    return await migrate(database, address);
  } catch (error) {
    throw databaseError(error, address);
  } finally {
    await database.close();
  }
}

async function migrate(database: PostgresDatabase, address: StoreAddress): Promise<Migration> {
  const found = await database.transaction((client) => openSchema(client, address));
  const jobs = jobSchemaOf(address.schema);
  const before = await engineVersion(database, jobs);
  const failures: Error[] = [];
  const boss = await startEngine(database, jobs, {
    supervise: false,
    schedule: false,
    onError: (error) => void failures.push(error),
  });
  await boss.stop({ graceful: false, close: false });
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  const after = (await engineVersion(database, jobs)) ?? 0;
  return {
    tables: { before: found === 0 ? null : found, after: Math.max(found, knownVersion) },
    jobs: { before, after },
  };
}

async function engineVersion(database: PostgresDatabase, schema: string): Promise<number | null> {
  try {
    const sql = `SELECT version FROM "${schema}".version`;
    return (await database.query<{ version: number }>(sql))[0]?.version ?? null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
