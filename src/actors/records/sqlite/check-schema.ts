import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store/store-error.ts';
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

/** Statements of a schema by the kind and name of their object. */
type Schema = ReadonlyMap<string, string>;

/**
 * Compares the tables, indexes, triggers and views of a store with those that its version makes: a trigger of someone
 * else would run with the statements of the daemon. A store of a later version may have more tables and indexes. Throws
 * StoreError, which names the object.
 *
 * Statements that a release changes remain here, or stores from older backups are refused.
 */
export function checkSchema(database: DatabaseSync): void {
  const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {};
  const { application_id: application } = database.prepare('PRAGMA application_id').get() ?? {};
  if (Number(version) < 1 || application !== 0) {
    throw refused(`has version ${Number(version)} and application ${Number(application)}`);
  }
  const isLater = Number(version) > schemaSteps.length;
  const required = schemaOfSteps(Number(version));
  const known = new Map([...madeAtFirstUse(), ...required]);
  const found = schemaIn(database);
  for (const [name, sql] of found) {
    const isExpected = known.get(name) === sql;
    if (isExpected || (isLater && isPassive(name, sql))) continue;
    throw refused(
      known.has(name) ? `has another ${name} than an agent makes` : `has a foreign ${name}`,
    );
  }
  const missing = [...required.keys()].find((name) => !found.has(name));
  if (missing !== undefined && !isLater) throw refused(`lacks the ${missing}`);
}

function refused(what: string): StoreError {
  return new StoreError(
    `the store of the backup ${what}; nothing was restored, so use another backup`,
  );
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
