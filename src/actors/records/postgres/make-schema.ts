/**
 * Returns what makes a schema that is not there, as one statement during which no other daemon makes it. Who may not create
 * schemas can have been given one. `CREATE SCHEMA IF NOT EXISTS` alone goes by what the connection knew before it waited.
 */
export function makeSchema(schema: string): string {
  return `DO $$ BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('schema ${schema}', 0));
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${schema}') THEN
      CREATE SCHEMA "${schema}";
    END IF;
  END $$`;
}
