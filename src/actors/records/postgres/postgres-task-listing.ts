import { everything } from '../../../machines/task/task-access.ts';
import { changeCursor, collectPage, deadlineCursor } from '../store/collect-page.ts';
import {
  type ChangedQuery,
  mostCounted,
  type PageQuery,
  type TaskFilter,
  type TaskPage,
  type TaskQuery,
} from '../store/task-page.ts';
import { briefColumns, type TaskRow, wholeColumns } from '../store/task-row.ts';
import type { TaskListing } from '../store/task-rows.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { addScope, Conditions } from './postgres-scope.ts';

/** The lists of the tasks of an agent in PostgreSQL. */
export class PostgresTaskListing implements TaskListing {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async made({ state, ...page }: TaskQuery, scope = everything): Promise<TaskPage> {
    const conditions = new Conditions();
    if (state !== undefined) conditions.add(`state = ${conditions.value(state)}`);
    if (page.cursor !== undefined) {
      conditions.add(`position < ${conditions.value(Number(page.cursor))}::bigint`);
    }
    addScope(conditions, scope);
    return this.#page(conditions, 'position DESC', page, (row) => String(row['position']));
  }

  async changed(query: ChangedQuery, scope = everything): Promise<TaskPage> {
    const conditions = conditionsOf(query);
    const [at, position] = query.cursor?.split('-') ?? [];
    if (at !== undefined) {
      const before = [at, position ?? 0].map((part) => conditions.value(Number(part)));
      conditions.add(
        `(changed_at, position) < (${before.map((part) => `${part}::bigint`).join(', ')})`,
      );
    }
    addScope(conditions, scope);
    return this.#page(conditions, 'changed_at DESC, position DESC', query, changeCursor);
  }

  async waiting(query: PageQuery, scope = everything): Promise<TaskPage> {
    const conditions = new Conditions();
    conditions.add(`state = 'deferred'`);
    const [at, position] = query.cursor?.split('-') ?? [];
    if (at !== undefined) {
      const after = [at, position ?? 0].map((part) => conditions.value(Number(part)));
      conditions.add(
        `(expires_at, position) > (${after.map((part) => `${part}::bigint`).join(', ')})`,
      );
    }
    addScope(conditions, scope);
    return this.#page(conditions, 'expires_at, position', query, deadlineCursor, ', expires_at');
  }

  async total(filter: TaskFilter, scope = everything): Promise<number> {
    const conditions = conditionsOf(filter);
    addScope(conditions, scope);
    const [row] = await this.#database.query<{ tasks: number }>(
      `SELECT count(*) AS tasks FROM (SELECT 1 FROM tasks ${conditions.where} LIMIT ${mostCounted}) AS counted`,
      conditions.values,
    );
    return row?.tasks ?? 0;
  }

  async #page(
    conditions: Conditions,
    order: string,
    { limit, withContents = false }: PageQuery,
    cursorOf: (row: TaskRow) => string,
    more = '',
  ): Promise<TaskPage> {
    const columns = `${withContents ? wholeColumns : briefColumns}${more}`;
    const size = `octet_length(task)${withContents ? ' + coalesce(octet_length(contents), 0)' : ''}`;
    const rows = await this.#database.query<TaskRow>(
      `SELECT ${columns}, ${size} AS size FROM tasks ${conditions.where}
        ORDER BY ${order} LIMIT ${conditions.value(limit + 1)}`,
      conditions.values,
    );
    return collectPage(rows, limit, cursorOf);
  }
}

function conditionsOf({ state, contextId, changedAfter }: TaskFilter): Conditions {
  const conditions = new Conditions();
  if (contextId !== undefined) conditions.add(`context_id = ${conditions.value(contextId)}`);
  if (state !== undefined) conditions.add(`state = ${conditions.value(state)}`);
  if (changedAfter !== undefined) {
    conditions.add(`changed_at >= ${conditions.value(changedAfter)}::bigint`);
  }
  return conditions;
}
