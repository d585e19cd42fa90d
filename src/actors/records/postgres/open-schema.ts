import type { PoolClient } from 'pg';
import { checkSchema, findSchema, knownVersion, tablesIdentity } from './known-schema.ts';
import { makeSchema } from './make-schema.ts';
import { postgresSteps, readableFrom } from './postgres-schema.ts';

/** Owner of the tables. */
export interface SchemaOwner {
  schema: string;
  agentId: string;
  /** True if the tables may be a copy that is not settled yet. */
  acceptsCopy?: boolean | undefined;
}

/**
 * Migrates the tables of an agent inside a transaction that excludes other daemons; returns the previous version, 0 for
 * none. Throws StoreError for tables that only later releases can use, or of another agent.
 */
export async function openSchema(
  client: PoolClient,
  { schema, agentId, acceptsCopy }: SchemaOwner,
): Promise<number> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `tasks of ${schema}`,
  ]);
  await client.query(makeSchema(schema));
  await client.query(
    `CREATE TABLE IF NOT EXISTS store_info (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL,
      agent_id TEXT NOT NULL, oldest_reader INTEGER NOT NULL DEFAULT 0, tables TEXT)`,
  );
  await client.query(
    'INSERT INTO store_info (one, version, agent_id) VALUES (1, 0, $1) ON CONFLICT DO NOTHING',
    [agentId],
  );
  const query = async (sql: string) => (await client.query(sql)).rows as unknown[];
  const found = (await findSchema(schema, query)) ?? {
    version: 0,
    readableFrom: 0,
    agentId,
    isCopy: false,
  };
  checkSchema(found, { schema, agentId, acceptsCopy });
  if (found.version >= knownVersion) return found.version;
  await client.query(postgresSteps.slice(found.version).join(''));
  // A copy stays one until it is settled.
  const tables = found.isCopy ? 'tables' : tablesIdentity;
  await client.query(`UPDATE store_info SET version = $1, oldest_reader = $2, tables = ${tables}`, [
    knownVersion,
    readableFrom,
  ]);
  return found.version;
}
