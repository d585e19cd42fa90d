import { causesOf, codeOf } from '../../../machines/error-code.ts';
import { DatabaseError } from './database-error.ts';
import { postgresSteps } from './postgres-steps.ts';

/** The version of the tables that this release knows. */
export const knownVersion = postgresSteps.length;

/** Whose tables a schema holds, and of which version. */
export interface FoundSchema {
  version: number;
  agentId: string;
}

/**
 * Reads whose tables a schema holds by a way to run a statement; `null` when there are none. Rejects with what that way
 * rejects with.
 */
export async function findSchema(
  schema: string,
  query: (sql: string) => Promise<unknown[]>,
): Promise<FoundSchema | null> {
  try {
    // By its full name, since a schema that may not be used is passed over otherwise.
    const rows = await query(`SELECT version, agent_id AS "agentId" FROM "${schema}".store_info`);
    return (rows[0] ?? null) as FoundSchema | null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Returns whether an error says that there is no table of that name, or no schema. */
export function isMissing(error: unknown): boolean {
  return causesOf(error).some((cause) => /^(42P01|3F000)$/.test(codeOf(cause)));
}

/** Throws DatabaseError for tables of a later version, and for those of an agent other than the one named. */
export function checkSchema(
  { version, agentId }: FoundSchema,
  { schema, agentId: wanted }: { schema: string; agentId: string | null },
): void {
  if (wanted !== null && agentId !== wanted) {
    throw new DatabaseError(
      `the schema ${schema} holds the tasks of agent ${agentId}, not of ${wanted}`,
      'set store.schema to another name',
    );
  }
  if (version > knownVersion) {
    throw new DatabaseError(
      `the schema ${schema} has store version ${version}, this version reads ${knownVersion}`,
      'start the version that wrote it, or set store.schema to a new name',
    );
  }
}
