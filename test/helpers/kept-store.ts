import { jobSchemaOf } from '../../src/actors/records/postgres/job-queues.ts';
import { tablesIdentity } from '../../src/actors/records/postgres/known-schema.ts';
import { groupOf, living } from '../../src/actors/records/postgres/living-replicas.ts';
import { queryAtOnce } from './query-at-once.ts';

/** The settings of `store` that keep an agent in a schema of its own. */
export interface SchemaSettings {
  kind: 'postgres';
  schema: string;
  pool: number;
}

/** Where the tables of an agent are. */
export interface KeptStore {
  url: string;
  schema: string;
}

/** The schema whose tables are up to date and empty, from which `postgres-once.ts` lets others be filled. */
export const emptySchema = 'empty';

/** An agent gives its schema back, and a while passes before another has it. */
const resting = 4;

/** The schemas that agents were in and no longer are, the longest free first. */
const free: string[] = [];

/** The schemas of agents by their folders. */
const taken = new Map<string, string>();

let made = 0;

/** True where the agents of tests keep their tasks in PostgreSQL. */
export const isOverPostgres = process.env['HOLDPOINT_TEST_STORE'] === 'postgres';

/** The address of the database that the agents of tests share, which `postgres-once.ts` starts; `null` over SQLite. */
function agentsDatabase(): string | null {
  return isOverPostgres ? (process.env['HOLDPOINT_TEST_DATABASE'] ?? '') : null;
}

/** What an agent of a test has in its environment to find its store. */
export function storeEnvironment(): { SERVICE_DATABASE_URL?: string } {
  const url = agentsDatabase();
  return url === null ? {} : { SERVICE_DATABASE_URL: url };
}

/** The port of the database that agents of tests are over, if any. */
export function databasePorts(): number[] {
  const url = agentsDatabase();
  return url === null ? [] : [Number(new URL(url).port)];
}

/** Keeps the agent of a folder in empty tables, where tests are over PostgreSQL; `null` where they are over SQLite. */
export function keepInPostgres(folder: string, agentId: string): SchemaSettings | null {
  const url = agentsDatabase();
  if (url === null) return null;
  const schema = emptied(url, agentId) ?? newSchema();
  taken.set(folder, schema);
  return { kind: 'postgres', schema, pool: 4 };
}

/** Gives the tables of a folder's agent, which has stopped, to another one. */
export function leaveStore(folder: string): void {
  const schema = taken.get(folder);
  if (schema === undefined) return;
  taken.delete(folder);
  free.push(schema);
}

/** Names the tables of the agent in whose folder a file lies; `null` for one that is kept in files. */
export function storeAround(path: string): KeptStore | null {
  const url = agentsDatabase();
  const found = taken
    .entries()
    .find(([folder]) => path === folder || path.startsWith(`${folder}/`));
  return url === null || found === undefined ? null : { url, schema: found[1] };
}

function newSchema(): string {
  made += 1;
  return `agent_${process.pid}_${made}`;
}

/**
 * Returns tables that another agent had, with what new ones hold in the place of what it kept: to make new ones takes
 * longer than most tests. `null` when there are none.
 */
function emptied(url: string, agentId: string): string | null {
  const schema = free.length < resting ? undefined : free.shift();
  if (schema === undefined) return null;
  // A daemon that a test left behind may still write.
  if (queryAtOnce(url, living(groupOf), [schema]).length > 0) return null;
  if (!isMade(url, schema)) return schema;
  statements ??= emptying(url);
  queryAtOnce(url, statements.replaceAll('$SCHEMA', schema).replaceAll('$AGENT', agentId));
  return schema;
}

/** Tells whether a schema has all its tables; those of an agent that did not start are removed. */
function isMade(url: string, schema: string): boolean {
  const names = [`${schema}.store_info`, `${jobSchemaOf(schema)}.version`];
  const [found] = queryAtOnce(
    url,
    'SELECT bool_and(to_regclass(x) IS NOT NULL) AS made FROM unnest($1::text[]) x',
    [names],
  );
  if (found?.['made'] === true) return true;
  const schemas = `${schema}, ${jobSchemaOf(schema)}`;
  queryAtOnce(url, `SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${schemas} CASCADE`);
  return false;
}

const identity = tablesIdentity.replace(`'tasks'`, `'$SCHEMA.tasks'`);

let statements: string | null = null;

function emptying(url: string): string {
  const schemas = [emptySchema, jobSchemaOf(emptySchema)];
  const tables = queryAtOnce(
    url,
    `SELECT format('%I.%I', nspname, relname) AS name
      FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = ANY ($1) AND relkind IN ('r', 'p') AND NOT relispartition`,
    [schemas],
  ).map(({ name }) => String(name));
  const filled = tables.filter(
    (table) => queryAtOnce(url, `SELECT 1 FROM ${table} LIMIT 1`).length > 0,
  );
  const there = (table: string): string => table.replace(emptySchema, '$SCHEMA');
  return [
    // Tables name each other, and all of them are emptied.
    'SET session_replication_role = replica',
    ...tables.map((table) => `DELETE FROM ${there(table)}`),
    ...filled.map((table) => `INSERT INTO ${there(table)} SELECT * FROM ${table}`),
    `UPDATE $SCHEMA.store_info SET agent_id = '$AGENT', tables = ${identity}`,
    'RESET session_replication_role',
  ].join(';');
}
