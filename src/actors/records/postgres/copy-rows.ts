import type { DatabaseSync } from 'node:sqlite';
import type { PoolClient } from 'pg';
import type { SourceRow } from '../sqlite/source-store.ts';
import { StoreError } from '../store/store-error.ts';
import { type CopiedTable, copiedTables } from './copied-tables.ts';

/** Maximum characters of JSON per insert. */
const most = 4 * 1024 * 1024;

/**
 * Copies the rows of a store without its log into empty tables; returns the number of rows per table. Rejects with the
 * driver's error.
 */
export async function copyRows(
  source: DatabaseSync,
  client: Pick<PoolClient, 'query'>,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of copiedTables) counts[table.name] = await copyTable(source, client, table);
  return counts;
}

async function copyTable(
  source: DatabaseSync,
  client: Pick<PoolClient, 'query'>,
  table: CopiedTable,
): Promise<number> {
  const insert = insertInto(table);
  let count = 0;
  let batch: string[] = [];
  let size = 0;
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await client.query(insert, [`[${batch.join(',')}]`]);
    batch = [];
    size = 0;
  };
  for (const row of source.prepare(table.select).iterate()) {
    const json = JSON.stringify(rowOf(row, table));
    count += 1;
    batch.push(json);
    size += json.length;
    if (size >= most) await flush();
  }
  await flush();
  if (table.isNumbered === true) await client.query(numberOn(table.name));
  return count;
}

function rowOf(row: SourceRow, { name, columns }: CopiedTable): object {
  return Object.fromEntries(
    Object.entries(columns).map(([column, type]) => {
      const value = row[column];
      if (typeof value === 'string' && value.includes('\0')) throw unkeepable(name, column, row);
      return [column, type === 'boolean' ? value === 1 : value];
    }),
  );
}

function unkeepable(table: string, column: string, row: Record<string, unknown>): StoreError {
  const which = JSON.stringify(row['task_id'] ?? row['id'] ?? row['key'] ?? '');
  return new StoreError(
    `${column} of ${which} in ${table} holds a NUL, which PostgreSQL cannot keep; end that task with the agent on SQLite, and copy once it is deleted by age`,
  );
}

function insertInto({ name, columns, isNumbered = false }: CopiedTable): string {
  const names = Object.keys(columns).join(', ');
  const types = Object.entries(columns).map((column) => column.join(' '));
  return `INSERT INTO ${name} (${names}) ${isNumbered ? 'OVERRIDING SYSTEM VALUE ' : ''}
    SELECT ${names} FROM json_to_recordset($1::text::json) AS x(${types.join(', ')})`;
}

/** Continues the row numbering after the copied rows. */
function numberOn(table: string): string {
  return `SELECT setval(pg_get_serial_sequence('${table}', 'position'), max(position))
    FROM ${table} HAVING count(*) > 0`;
}
