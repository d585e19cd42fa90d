import { DatabaseSync } from 'node:sqlite';
import { applicationOf, versionOf } from './database.ts';
import { restoredTable } from './restored-mark.ts';
import { applicationId, schemaSteps } from './store-schema.ts';

/** Tables of SQLite's own that ANALYZE makes, such as that of an operator; they hold statistics alone. */
const statistics: Schema = new Map([
  ['table "sqlite_stat1"', 'CREATE TABLE sqlite_stat1(tbl,idx,stat)'],
  ['table "sqlite_stat4"', 'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)'],
]);

/** Statements of a schema by the kind and name of their object. */
type Schema = ReadonlyMap<string, string>;

/**
 * Compares the tables, indexes, triggers and views of a store with those that its version makes: a foreign trigger
 * would run with the statements of the daemon. A store of a later version may have more tables and indexes. Returns
 * the first difference, which names the object; `null` for none.
 *
 * A statement that a release changes must stay known here, or older backups are refused.
 */
export function schemaFault(database: DatabaseSync): string | null {
  const version = versionOf(database);
  const mark = applicationOf(database);
  if (version < 1 || mark !== applicationId)
    return `has version ${version} and application ${mark}`;
  const isLater = version > schemaSteps.length;
  const required = schemaOfSteps(version);
  const known = new Map([...statistics, ...ofRestored(), ...required]);
  const found = schemaIn(database);
  for (const [name, sql] of found) {
    const isExpected = known.get(name) === sql;
    if (isExpected || (isLater && isPassive(name, sql))) continue;
    return known.has(name) ? `has another ${name} than an agent makes` : `has a foreign ${name}`;
  }
  const missing = [...required.keys()].find((name) => !found.has(name));
  return missing === undefined || isLater ? null : `lacks the ${missing}`;
}

/** Returns whether an object only stores rows; a trigger, a view and a virtual table run code. */
function isPassive(name: string, sql: string): boolean {
  return name.startsWith('index ') || (name.startsWith('table ') && /^CREATE TABLE /i.test(sql));
}

function schemaOfSteps(count: number): Schema {
  return schemaOf((database) => database.exec(schemaSteps.slice(0, count).join('')));
}

/** The mark of a restored store, until a daemon opens it. */
function ofRestored(): Schema {
  return schemaOf((database) => database.exec(restoredTable));
}

function schemaOf(make: (database: DatabaseSync) => void): Schema {
  const database = new DatabaseSync(':memory:');
  try {
    make(database);
    return schemaIn(database);
  } finally {
    database.close();
  }
}

/** The layout of a statement in the sources is no difference. */
function schemaIn(database: DatabaseSync): Schema {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').all();
  return new Map(
    rows.map(({ type, name, tbl_name: table, sql }) => [
      `${String(type)} ${JSON.stringify(name)}`,
      sql === null ? `of ${String(table)}` : String(sql).replaceAll(/\s+/g, ' '),
    ]),
  );
}
