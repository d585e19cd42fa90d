import { DatabaseSync } from 'node:sqlite';
import { restoredTable } from './restored-mark.ts';
import { schemaSteps } from './schema-steps.ts';
import { SqliteAcsSessions } from './sqlite-acs-sessions.ts';
import { SqliteApprovalRows } from './sqlite-approval-rows.ts';
import { SqliteChannelNameRows } from './sqlite-channel-name-rows.ts';
import { SqliteConversationRows } from './sqlite-conversation-rows.ts';
import { SqliteDelegations } from './sqlite-delegations.ts';
import { SqliteGrants } from './sqlite-grants.ts';
import { SqliteKeyRows } from './sqlite-key-rows.ts';
import { SqlitePushRows } from './sqlite-push-rows.ts';
import { SqliteReleaseRows } from './sqlite-release-rows.ts';
import { SqliteWebRecords } from './sqlite-web-records.ts';
import { SqliteWebSessions } from './sqlite-web-sessions.ts';

/** Classes that make their tables at their first use. */
const makers = [
  SqlitePushRows,
  SqliteApprovalRows,
  SqliteReleaseRows,
  SqliteConversationRows,
  SqliteChannelNameRows,
  SqliteKeyRows,
  SqliteAcsSessions,
  SqliteDelegations,
  SqliteGrants,
  SqliteWebSessions,
  SqliteWebRecords,
];

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
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  const mark = Number(database.prepare('PRAGMA application_id').get()?.['application_id']);
  if (version < 1 || mark !== 0) return `has version ${version} and application ${mark}`;
  const isLater = version > schemaSteps.length;
  const required = schemaOfSteps(version);
  const known = new Map([...statistics, ...madeAtFirstUse(), ...required]);
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

function madeAtFirstUse(): Schema {
  const steps = schemaOfSteps(schemaSteps.length);
  const all = schemaOf((database) => {
    database.exec(`${schemaSteps.join('')}; ${restoredTable}`);
    for (const Maker of makers) new Maker(database);
  });
  return new Map([...all].filter(([name]) => !steps.has(name)));
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
