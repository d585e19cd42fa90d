/** Lock group that shows which daemons of a schema are alive; `$1` of the statement is the schema name. */
export const groupOf = `(hashtext('daemons of ' || $1) & 2147483647)`;

/** Query for the numbers of a group's connected daemons. */
export const living = (group: string): string => `SELECT objid::bigint FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid = ${group}::int::oid
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
