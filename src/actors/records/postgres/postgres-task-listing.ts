import { decidersOf } from '../../../machines/task/decided-calls.ts';
import { everything } from '../../../machines/task/task-access.ts';
import { changeCursor, collectPage, deadlineCursor } from '../store/collect-page.ts';
import { conditionsOfState } from '../store/listed-states.ts';
import { positionsOf, type TimedEntry } from '../store/range-of-time.ts';
import {
  type ChangedQuery,
  type ListedState,
  mostCounted,
  type PageQuery,
  type TaskFilter,
  type TaskPage,
  type TaskQuery,
} from '../store/task-page.ts';
import { briefColumns, sizeOfColumns, type TaskRow, wholeColumns } from '../store/task-row.ts';
import type { Decider, TaskListing } from '../store/task-rows.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { addScope, Conditions } from './postgres-scope.ts';
import { valuesSql } from './task-values.ts';

/** Finds tasks whose call waits at another program; rows that cannot match are not parsed. */
const elsewhere = `CASE WHEN strpos(task, '"waits":') > 0
  THEN task::json -> 'waits' IS NOT NULL ELSE false END`;

/**
 * The creation of a task; NULL if it is unreadable, which only its position places. Only texts and numbers precede it,
 * in which the pattern cannot match.
 */
const createdAt = `substring(task FROM '"createdAt":([0-9]+)')::bigint`;

/** Task lists of an agent in PostgreSQL. */
export class PostgresTaskListing implements TaskListing {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async made({ state, from, to, ...page }: TaskQuery, scope = everything): Promise<TaskPage> {
    const conditions = new Conditions();
    if (from !== undefined || to !== undefined) {
      const range = { from: from ?? 0, to: to ?? Number.MAX_SAFE_INTEGER };
      await this.#addRange(conditions, range);
    }
    if (page.cursor !== undefined) {
      conditions.add(`position < ${conditions.value(Number(page.cursor))}::bigint`);
    }
    addScope(conditions, scope);
    return this.#page({ conditions, state, order: 'position DESC' }, page, (row) =>
      String(row['position']),
    );
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
    const list = { conditions, state: query.state, order: 'changed_at DESC, position DESC' };
    return this.#page(list, query, changeCursor);
  }

  async waiting(query: PageQuery, scope = everything): Promise<TaskPage> {
    const conditions = new Conditions();
    const [at, position] = query.cursor?.split('-') ?? [];
    if (at !== undefined) {
      const after = [at, position ?? 0].map((part) => conditions.value(Number(part)));
      conditions.add(
        `(expires_at, position) > (${after.map((part) => `${part}::bigint`).join(', ')})`,
      );
    }
    addScope(conditions, scope);
    const list = { conditions, state: 'parked', order: 'expires_at, position' } as const;
    return this.#page({ ...list, more: ', expires_at' }, query, deadlineCursor);
  }

  async decided(by: Decider, query: PageQuery): Promise<TaskPage> {
    const conditions = new Conditions();
    const keys = conditions.value(decidersOf(by));
    conditions.add(`id IN (SELECT task_id FROM task_approvers WHERE email = ANY(${keys}::text[]))`);
    if (query.cursor !== undefined) {
      conditions.add(`position < ${conditions.value(Number(query.cursor))}::bigint`);
    }
    const list = { conditions, state: undefined, order: 'position DESC' };
    return this.#page(list, query, (row) => String(row['position']));
  }

  async total(filter: TaskFilter, scope = everything): Promise<number> {
    const conditions = conditionsOf(filter);
    addScope(conditions, scope);
    const [row] = await this.#database.query<{ tasks: number }>(
      `SELECT count(*) AS tasks FROM (${rowsOf('1', conditions, filter.state)} LIMIT ${mostCounted}) AS counted`,
      conditions.values,
    );
    return row?.tasks ?? 0;
  }

  /** Restricts a query to tasks that were created in a range, and to the rows that can be such tasks. */
  async #addRange(conditions: Conditions, range: { from: number; to: number }): Promise<void> {
    const [ends] = await this.#database.query<{ first: number | null; last: number | null }>(
      'SELECT min(position) AS first, max(position) AS last FROM tasks',
    );
    const bounds = { first: ends?.first ?? 0, end: (ends?.last ?? 0) + 1 };
    const { from: least, to: end } = await positionsOf(range, bounds, async (position) => {
      const [entry] = await this.#database.query<TimedEntry>(
        `SELECT position, ${createdAt} AS at FROM tasks
          WHERE position >= $1 AND ${createdAt} IS NOT NULL
          ORDER BY position LIMIT 1`,
        [position],
      );
      return entry ?? null;
    });
    const value = (number: number): string => `${conditions.value(number)}::bigint`;
    conditions.add(`position >= ${value(least)} AND position < ${value(end)}`);
    conditions.add(
      `coalesce(${createdAt} BETWEEN ${value(range.from)} AND ${value(range.to)}, true)`,
    );
  }

  async #page(
    { conditions, state, order, more = '' }: SqlList,
    { limit, withContents = false }: PageQuery,
    cursorOf: (row: TaskRow) => string,
  ): Promise<TaskPage> {
    const columns = `${(withContents ? wholeColumns : briefColumns)(valuesSql)}${more}`;
    const size = sizeOfColumns(withContents, valuesSql);
    const rows = await this.#database.query<TaskRow>(
      `${rowsOf(`${columns}, ${size} AS size`, conditions, state)}
        ORDER BY ${order} LIMIT ${conditions.value(limit + 1)}`,
      conditions.values,
    );
    return collectPage(rows, limit, cursorOf);
  }
}

/** Filter and order of a list. */
interface SqlList {
  conditions: Conditions;
  state: ListedState | undefined;
  order: string;
  /** Additional columns. */
  more?: string;
}

/** Selects the rows of a state; an index provides the order of the list. */
function rowsOf(columns: string, conditions: Conditions, state: ListedState | undefined): string {
  const states = conditionsOfState(state, elsewhere);
  const every = states.length === 0 ? [conditions.where] : states.map((one) => conditions.and(one));
  return every.map((where) => `SELECT ${columns} FROM tasks ${where}`).join(' UNION ALL ');
}

function conditionsOf({ contextId, changedAfter }: TaskFilter): Conditions {
  const conditions = new Conditions();
  if (contextId !== undefined) conditions.add(`context_id = ${conditions.value(contextId)}`);
  if (changedAfter !== undefined) {
    conditions.add(`changed_at >= ${conditions.value(changedAfter)}::bigint`);
  }
  return conditions;
}
