import { causesOf, codeOf } from '../../../machines/error-code.ts';
import { DatabaseError } from './database-error.ts';
import { postgresSteps } from './postgres-steps.ts';

/** Schema version of this release. */
export const knownVersion = postgresSteps.length;

/** Agent and version of the tables in a schema. */
export interface FoundSchema {
  version: number;
  /** The oldest version whose releases can work with the tables. */
  readableFrom: number;
  agentId: string;
}

/**
 * Reads agent and version of a schema's tables with the given query function; `null` if there are none. Rejects like
 * that function.
 */
export async function findSchema(
  schema: string,
  query: (sql: string) => Promise<unknown[]>,
): Promise<FoundSchema | null> {
  try {
    // Fully qualified, since the search path silently skips a schema without permissions.
    const rows = await query(`SELECT version, agent_id AS "agentId",
      coalesce((to_jsonb(store_info) ->> 'readable_from')::integer, version) AS "readableFrom"
      FROM "${schema}".store_info`);
    return (rows[0] ?? null) as FoundSchema | null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Returns whether an error reports a missing table or schema. */
export function isMissing(error: unknown): boolean {
  return causesOf(error).some((cause) => /^(42P01|3F000)$/.test(codeOf(cause)));
}

/** Throws DatabaseError for tables that only later releases can use, or of another agent than the given one. */
export function checkSchema(
  { version, readableFrom, agentId }: FoundSchema,
  { schema, agentId: wanted }: { schema: string; agentId: string | null },
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
}
