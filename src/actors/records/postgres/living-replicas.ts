/** The group of the locks by which the daemons over a schema are seen; `$1` of a statement is its name. */
export const groupOf = `(hashtext('daemons of ' || $1) & 2147483647)`;

/** A selection of the numbers of the daemons of a group whose connection is there. */
export const living = (group: string): string => `SELECT objid::bigint FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid = ${group}::int::oid
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
