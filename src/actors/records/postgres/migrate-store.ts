import { databaseError } from './database-error.ts';
import { jobSchemaOf, startEngine } from './job-queues.ts';
import { isMissing, knownVersion } from './known-schema.ts';
import { openSchema } from './open-schema.ts';
import { type PostgresAddress, PostgresDatabase } from './postgres-database.ts';

/** Whose tables are brought up to date, and where. */
export interface StoreAddress extends Omit<PostgresAddress, 'pool'> {
  agentId: string;
}

/** The version of some tables before and after; `null` while there were none. */
export interface Versions {
  before: number | null;
  after: number;
}

/** What was brought up to date: the tables of the agent, and those of the job engine. */
export interface Migration {
  tables: Versions;
  jobs: Versions;
}

/** Connections that bringing tables up to date needs at most. */
const connections = 2;

/**
 * Brings the tables of an agent and of its job engine up to date, under the locks that daemons take for that at their
 * start. Rejects with StoreError.
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
    ...{ supervise: false, schedule: false },
    onError: (error) => void failures.push(error),
  });
  await boss.stop({ graceful: false, close: false });
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  const after = (await engineVersion(database, jobs)) ?? 0;
  return {
    tables: { before: found === 0 ? null : found, after: knownVersion },
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
