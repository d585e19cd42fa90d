import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { jobSchemaOf } from '../../src/actors/records/postgres/job-queues.ts';
import { storeAround } from './kept-store.ts';
import { queryAtOnce } from './query-at-once.ts';

/** Runs a statement that both kinds of databases know on the tables of the agent in a folder, behind its back. */
export function changeTables(folder: string, sql: string): void {
  const store = storeAround(folder);
  if (store !== null) {
    const { url, schema } = store;
    queryAtOnce(url, `BEGIN; SET LOCAL search_path = ${schema}; ${sql}; COMMIT`);
    return;
  }
  const database = new DatabaseSync(join(folder, '.service/tasks.db'));
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

/** Returns all that the tables of the agent in a folder hold, as text; `null` for one that keeps them in files. */
export function textOfTables(folder: string): string | null {
  const store = storeAround(folder);
  if (store === null) return null;
  const { url, schema } = store;
  const tables = queryAtOnce(
    url,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = ANY ($1)`,
    [[schema, jobSchemaOf(schema)]],
  );
  return tables
    .flatMap(({ name }) => queryAtOnce(url, `SELECT t::text AS row FROM ${String(name)} AS t`))
    .map(({ row }) => `${String(row)}\n`)
    .join('');
}
