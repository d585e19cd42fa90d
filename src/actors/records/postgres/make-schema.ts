/**
 * Returns a statement that creates a missing schema under a lock against other daemons. Works for a user who may not
 * create schemas but already has one. `CREATE SCHEMA IF NOT EXISTS` alone is insufficient: it uses the connection's
 * snapshot from before the lock.
 */
export function makeSchema(schema: string): string {
  return `DO $$ BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('schema ${schema}', 0));
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${schema}') THEN
      CREATE SCHEMA "${schema}";
    END IF;
  END $$`;
}
