import { sha256Hex } from '../log/node-crypto.ts';
import { databaseError } from './database-error.ts';
import { checkSchema, findSchema } from './known-schema.ts';
import { groupOf, living } from './living-replicas.ts';
import { PostgresDatabase } from './postgres-database.ts';
import type { LogAddress, LogHead } from './postgres-log.ts';
import { PostgresTaskRows } from './postgres-task-rows.ts';

/** State of an agent's store, inspected without joining its daemons. */
export interface StoreReport {
  version: number;
  /** Running daemons that use the store, and their releases; `null` for a daemon whose row was lost. */
  living: number;
  releases: readonly (string | null)[];
  /** Dead daemons that have not been cleaned up. */
  dead: number;
  /** Unfinished tasks that this release cannot continue. */
  strange: number;
  /** Position of the log according to the store, and its last line with its hash; `null` if there is none. */
  head: LogHead;
  last: { line: number; hash: string } | null;
}

/** Inspects the store of an agent; `null` if there are no tables yet. Rejects with StoreError. */
export async function examineStore(address: LogAddress): Promise<StoreReport | null> {
  const database = await PostgresDatabase.load({ ...address, pool: 1 });
  try {
    return await examine(database, address);
  } catch (error) {
    throw databaseError(error, address);
  } finally {
    await database.close();
  }
}

async function examine(
  database: PostgresDatabase,
  address: LogAddress,
): Promise<StoreReport | null> {
  const found = await findSchema(address.schema, (sql) => database.query(sql));
  if (found === null) return null;
  checkSchema(found, address);
  if (found.version === 0) return null;
  const [daemons] = await database.query<{
    living: number;
    dead: number;
    releases: (string | null)[] | null;
  }>(daemonsNow, [address.schema]);
  const strangers = await new PostgresTaskRows(database).strangers();
  const [log] = await database.query<LogHead & { line: number | null; text: string }>(logOf);
  return {
    version: found.version,
    living: daemons?.living ?? 0,
    releases: daemons?.releases ?? [],
    dead: daemons?.dead ?? 0,
    strange: strangers.reduce((sum, { tasks }) => sum + tasks, 0),
    head: { events: log?.events ?? 0, hash: log?.hash ?? '' },
    last:
      log === undefined || log.line === null
        ? null
        : { line: log.line, hash: sha256Hex(Buffer.from(log.text)) },
  };
}

const daemonsNow = `WITH here AS (${living(groupOf)})
  SELECT count(*) FILTER (WHERE is_here) AS living,
    count(*) FILTER (WHERE NOT is_here AND gone_at IS NULL) AS dead,
    array_agg(DISTINCT release) FILTER (WHERE is_here) AS releases
  FROM (SELECT gone_at, release, number IN (SELECT * FROM here) AS is_here FROM replicas) AS daemons`;

/** A single statement, so that both values come from the same commit. */
const logOf = `SELECT head.events, head.hash, last.line, last.text FROM audit_head AS head
  LEFT JOIN LATERAL (SELECT line, text FROM audit_lines ORDER BY line DESC LIMIT 1) AS last ON true`;
