import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { decidersOf } from '../../../machines/task/decided-calls.ts';
import { everything, type TaskScope } from '../../../machines/task/task-access.ts';
import { changeCursor, collectPage, deadlineCursor } from '../store/collect-page.ts';
import { conditionsOfState } from '../store/listed-states.ts';
import { positionsOf } from '../store/range-of-time.ts';
import { scopeFilter } from '../store/task-owners.ts';
import {
  type ChangedQuery,
  mostCounted,
  type PageQuery,
  type TaskFilter,
  type TaskPage,
  type TaskQuery,
} from '../store/task-page.ts';
import { briefColumns, sizeOfColumns, type TaskRow, wholeColumns } from '../store/task-row.ts';
import type { Decider, TaskListing } from '../store/task-rows.ts';
import { valuesSql } from './task-parts.ts';

/** The creation of a task; NULL if it is unreadable, which only its position places. */
const createdAt = `CASE WHEN json_valid(task) THEN task ->> '$.createdAt' END`;

type Values = Record<string, string | number>;

/** Finds tasks whose call waits at another program. */
const elsewhere = `json_valid(task) AND task ->> '$.waits' IS NOT NULL`;

/**
 * Task lists of an agent. Each query reads along one index, and no more rows than it returns. The index contains the
 * owner, so tasks outside the caller's scope are skipped there.
 */
export class SqliteTaskListing implements TaskListing {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Lists tasks by creation, newest first; a task's position never changes. */
  async made({ state, from, to, ...page }: TaskQuery, scope = everything): Promise<TaskPage> {
    const position = page.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(page.cursor);
    const filter = scopeFilter(scope);
    const range =
      from === undefined && to === undefined
        ? { where: '', values: {} }
        : await this.#rangeFilter({ from: from ?? 0, to: to ?? Number.MAX_SAFE_INTEGER });
    const whole = filter.where === '' ? 'tasks NOT INDEXED' : 'tasks INDEXED BY tasks_by_owner';
    const states = conditionsOfState(state, elsewhere);
    const sources =
      states.length === 0
        ? [`FROM ${whole} WHERE`]
        : states.map((condition) => `FROM tasks INDEXED BY tasks_by_state WHERE ${condition} AND`);
    const list = {
      sources: sources.map(
        (source) => `${source} position < :position ${range.where} ${filter.where}`,
      ),
      order: 'position DESC',
    };
    const values = { ...filter.values, ...range.values, position };
    return this.#page(list, values, page, (row) => String(row['position']));
  }

  /** Lists tasks by their last state change, newest first. */
  async changed(query: ChangedQuery, scope = everything): Promise<TaskPage> {
    const { sources, values } = sourcesOf(query, scope);
    const [at, position] = query.cursor?.split('-') ?? [];
    const before = {
      at: Number(at ?? Number.MAX_SAFE_INTEGER),
      position: Number(position ?? Number.MAX_SAFE_INTEGER),
    };
    const list = {
      sources: sources.map((source) => `${source} AND (changed_at, position) < (:at, :position)`),
      order: 'changed_at DESC, position DESC',
    };
    return this.#page(list, { ...values, ...before }, query, changeCursor);
  }

  /** Lists tasks that wait for a decision, earliest deadline first. */
  async waiting(query: PageQuery, scope = everything): Promise<TaskPage> {
    const [at, position] = query.cursor?.split('-').map(Number) ?? [];
    const filter = scopeFilter(scope);
    const source = `FROM tasks INDEXED BY tasks_waiting_by_deadline
      WHERE state = 'deferred' AND (expires_at, position) > (:at, :position) ${filter.where}`;
    const list = { sources: [source], order: 'expires_at, position', more: ', expires_at' };
    const after = { at: at ?? -1, position: position ?? -1 };
    return this.#page(list, { ...filter.values, ...after }, query, deadlineCursor);
  }

  /** Lists the tasks with a decision of a caller, newest task first. */
  async decided(by: Decider, query: PageQuery): Promise<TaskPage> {
    const position = query.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(query.cursor);
    const source = `FROM tasks WHERE position IN (SELECT position FROM task_approvers
      WHERE email IN (:key, :email) AND position < :position)`;
    const list = { sources: [source], order: 'position DESC' };
    const [key = '', email = key] = decidersOf(by);
    return this.#page(list, { key, email, position }, query, (row) => String(row['position']));
  }

  /** Counts the tasks that match a filter, up to `mostCounted`. */
  async total(filter: TaskFilter, scope = everything): Promise<number> {
    const { sources, values } = sourcesOf(filter, scope);
    const rows = sources.map((source) => `SELECT 1 ${source}`).join(' UNION ALL ');
    const sql = `SELECT count(*) AS tasks FROM (${rows} LIMIT ${mostCounted})`;
    return Number(this.#statement(sql).get(values)?.['tasks']);
  }

  /** Restricts a query to tasks that were created in a range, and to the rows that can be such tasks. */
  async #rangeFilter(range: {
    from: number;
    to: number;
  }): Promise<{ where: string; values: Values }> {
    const ends = this.#statement('SELECT min(position) AS first, max(position) AS last FROM tasks');
    const { first, last } = ends.get() ?? {};
    const read = this.#statement(
      `SELECT position, ${createdAt} AS at FROM tasks NOT INDEXED
        WHERE position >= :position AND ${createdAt} IS NOT NULL
        ORDER BY position LIMIT 1`,
    );
    const bounds = { first: Number(first ?? 0), end: Number(last ?? 0) + 1 };
    const { from: least, to: end } = await positionsOf(range, bounds, (position) => {
      const row = read.get({ position });
      return row === undefined
        ? null
        : { position: Number(row['position']), at: Number(row['at']) };
    });
    return {
      where: `AND position >= :least AND position < :end
        AND ifnull(${createdAt} BETWEEN :from AND :to, TRUE)`,
      values: { least, end, ...range },
    };
  }

  #page(
    { sources, order, more = '' }: SqlList,
    values: Values,
    { limit, withContents = false }: PageQuery,
    cursorOf: (row: TaskRow) => string,
  ): TaskPage {
    const size = sizeOfColumns(withContents, valuesSql);
    const columns = `${(withContents ? wholeColumns : briefColumns)(valuesSql)}${more}`;
    const rows = sources
      .map((source) => `SELECT ${columns}, ${size} AS size ${source}`)
      .join(' UNION ALL ');
    const read = this.#statement(`${rows} ORDER BY ${order} LIMIT :limit`);
    const found = read.iterate({ ...values, limit: limit + 1 });
    return collectPage(found, limit, cursorOf);
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const made = this.#database.prepare(sql);
    this.#statements.set(sql, made);
    return made;
  }
}

/** Queries on one index each, with the common order of these indexes. */
interface SqlList {
  sources: string[];
  order: string;
  /** Additional columns. */
  more?: string;
}

/** Returns queries for a filter on indexes sorted by change time. */
function sourcesOf(
  { state, contextId, changedAfter }: TaskFilter,
  scope: TaskScope,
): { sources: string[]; values: Values } {
  const owned = scopeFilter(scope);
  const states = conditionsOfState(state, elsewhere);
  const ofAll = state === undefined ? 'tasks_by_change' : 'tasks_by_state_change';
  const index = contextId === undefined ? ofAll : 'tasks_by_context_change';
  const where = [
    ...(contextId === undefined ? [] : ['context_id = :contextId']),
    'changed_at >= :changedAfter',
  ].join(' AND ');
  const each = states.length === 0 ? [''] : states.map((condition) => `${condition} AND `);
  return {
    sources: each.map(
      (state) => `FROM tasks INDEXED BY ${index} WHERE ${state}${where} ${owned.where}`,
    ),
    values: {
      ...(contextId !== undefined && { contextId }),
      ...owned.values,
      changedAfter: changedAfter ?? 0,
    },
  };
}
