import { causesOf, codeOf } from '../../../machines/error-code.ts';
import { DatabaseError } from './database-error.ts';
import { postgresSteps } from './postgres-schema.ts';

/** Schema version of this release. */
export const knownVersion = postgresSteps.length;

/** Agent and version of the tables in a schema. */
export interface FoundSchema {
  version: number;
  /** The oldest version whose releases can work with the tables. */
  readableFrom: number;
  agentId: string;
  /** True if the tables are a copy of those that the agent used, such as tables restored from a dump. */
  isCopy: boolean;
}

/**
 * SQL for the identity of the tables, for the statement that writes it into `store_info`: the number of a table, and the
 * transaction that wrote the row. No dump contains either. A new server gives equal numbers to the tables of equal dumps,
 * so the number alone would not do. Each statement that changes the row writes it again.
 */
export const tablesIdentity = `'tasks'::regclass::oid || '/' || txid_current() % 4294967296`;

/** Returns SQL for whether a row of `store_info` belongs to other tables than the given one, an SQL expression. */
function isCopyOf(table: string): string {
  return `coalesce(store_info.tables <> ${table}::oid || '/' || store_info.xmin::text, false)`;
}

/** SQL for whether the tables of the search path are a copy. */
export const isCopyNow = `(SELECT ${isCopyOf(`to_regclass('tasks')`)} FROM store_info)`;

/**
 * Reads agent and version of a schema's tables with the given query function; `null` if there are none. Rejects like
 * that function, and with DatabaseError for tables of a build before the first version.
 */
export async function findSchema(
  schema: string,
  query: (sql: string) => Promise<unknown[]>,
): Promise<FoundSchema | null> {
  try {
    // Fully qualified, since the search path silently skips a schema without permissions.
    const rows = await query(`SELECT version, agent_id AS "agentId",
      oldest_reader AS "readableFrom",
      ${isCopyOf(`to_regclass('"${schema}".tasks')`)} AS "isCopy",
      version > 0 AND to_regclass('"${schema}".task_values') IS NULL AS "isEarlier"
      FROM "${schema}".store_info`);
    if (rows.length === 0) return null;
    const { isEarlier, ...found } = rows[0] as FoundSchema & { isEarlier: boolean };
    if (isEarlier) throw ofEarlierBuild(schema);
    return found;
  } catch (error) {
    if (isMissing(error)) return null;
    throw isOfEarlierBuild(error) ? ofEarlierBuild(schema) : error;
  }
}

/** Returns whether an error reports a missing column: tables of builds before the first version have no `oldest_reader`. */
function isOfEarlierBuild(error: unknown): boolean {
  return causesOf(error).some((cause) => codeOf(cause) === '42703');
}

function ofEarlierBuild(schema: string): DatabaseError {
  return new DatabaseError(
    `the schema ${schema} holds tables of a build before the first version, which this version cannot read`,
    'start the build that wrote them, or set store.schema to a new name',
  );
}

/** Returns whether an error reports a missing table or schema. */
export function isMissing(error: unknown): boolean {
  return causesOf(error).some((cause) => /^(42P01|3F000)$/.test(codeOf(cause)));
}

/**
 * Throws DatabaseError for tables that only later releases can use, of another agent than the given one, or that are a
 * copy which is not settled yet, unless `acceptsCopy` is set.
 */
export function checkSchema(
  { version, readableFrom, agentId, isCopy }: FoundSchema,
  {
    schema,
    agentId: wanted,
    acceptsCopy = false,
  }: { schema: string; agentId: string | null; acceptsCopy?: boolean | undefined },
): void {
  if (wanted !== null && agentId !== wanted) {
    throw new DatabaseError(
      `the schema ${schema} holds the tasks of agent ${agentId}, not of ${wanted}`,
      'set store.schema to another name',
    );
  }
  if (readableFrom > knownVersion) {
    throw new DatabaseError(
      `the schema ${schema} has store version ${version}, this version reads ${knownVersion}`,
      'start the version that wrote it, or set store.schema to a new name',
    );
  }
  if (isCopy && !acceptsCopy) throw unsettled(schema);
}

/** The error of tables that are a copy which is not settled yet. */
export function unsettled(schema: string): DatabaseError {
  return new DatabaseError(
    `the tables of the schema ${schema} were restored or copied, so their calls may have run since`,
    'run holdpoint store restored, or holdpoint store restored --moved if no daemon ran since the copy',
  );
}
