import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { everything, type TaskScope } from '../../../machines/task/task-access.ts';
import { changeCursor, collectPage, deadlineCursor } from '../store/collect-page.ts';
import { scopeFilter } from '../store/task-owners.ts';
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

type Values = Record<string, string | number>;

/**
 * The lists of the tasks of an agent: each reads along one index, and no more rows than it shows. Whose a task
 * is stands in the index, so what the caller may not know of is passed over there.
 */
export class SqliteTaskListing implements TaskListing {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Lists tasks, the one that was made last first; a task keeps its place whatever becomes of it. */
  async made({ state, ...page }: TaskQuery, scope = everything): Promise<TaskPage> {
    const position = page.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(page.cursor);
    const filter = scopeFilter(scope);
    const whole = filter.where === '' ? 'tasks NOT INDEXED' : 'tasks INDEXED BY tasks_by_owner';
    const [from, where, values] =
      state === undefined
        ? [whole, '', {}]
        : ['tasks INDEXED BY tasks_by_state', 'state = :state AND', { state }];
    const sql = `FROM ${from} WHERE ${where} position < :position ${filter.where} ORDER BY position DESC`;
    const bound = { ...values, ...filter.values, position };
    return this.#page(sql, bound, page, (row) => String(row['position']));
  }

  /** Lists tasks, the one whose state changed last first. */
  async changed(query: ChangedQuery, scope = everything): Promise<TaskPage> {
    const { source, values } = sourceOf(query, scope);
    const [at, position] = query.cursor?.split('-') ?? [];
    const before = {
      at: Number(at ?? Number.MAX_SAFE_INTEGER),
      position: Number(position ?? Number.MAX_SAFE_INTEGER),
    };
    const sql = `${source} AND (changed_at, position) < (:at, :position)
      ORDER BY changed_at DESC, position DESC`;
    return this.#page(sql, { ...values, ...before }, query, changeCursor);
  }

  /** Lists tasks that wait for a decision, the one whose deadline comes first at the front. */
  async waiting(query: PageQuery, scope = everything): Promise<TaskPage> {
    const [at, position] = query.cursor?.split('-').map(Number) ?? [];
    const filter = scopeFilter(scope);
    const sql = `FROM tasks INDEXED BY tasks_waiting_by_deadline
      WHERE state = 'deferred' AND (expires_at, position) > (:at, :position) ${filter.where}
      ORDER BY expires_at, position`;
    const after = { at: at ?? -1, position: position ?? -1 };
    return this.#page(sql, { ...filter.values, ...after }, query, deadlineCursor, ', expires_at');
  }

  /** Counts the tasks that a filter lets through, up to `mostCounted`. */
  async total(filter: TaskFilter, scope = everything): Promise<number> {
    const { source, values } = sourceOf(filter, scope);
    const sql = `SELECT count(*) AS tasks FROM (SELECT 1 ${source} LIMIT ${mostCounted})`;
    return Number(this.#statement(sql).get(values)?.['tasks']);
  }

  #page(
    source: string,
    values: Values,
    { limit, withContents = false }: PageQuery,
    cursorOf: (row: TaskRow) => string,
    more = '',
  ): TaskPage {
    const size = withContents
      ? 'octet_length(task) + ifnull(octet_length(contents), 0)'
      : 'octet_length(task)';
    const columns = `${withContents ? wholeColumns : briefColumns}${more}`;
    const sql = `SELECT ${columns}, ${size} AS size ${source} LIMIT :limit`;
    const rows = this.#statement(sql).iterate({ ...values, limit: limit + 1 });
    return collectPage(rows, limit, cursorOf);
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const made = this.#database.prepare(sql);
    this.#statements.set(sql, made);
    return made;
  }
}

/** The rows of a filter, in an index that has them in the order of their changes. */
function sourceOf(
  { state, contextId, changedAfter }: TaskFilter,
  scope: TaskScope,
): { source: string; values: Values } {
  const owned = scopeFilter(scope);
  const named = { ...(contextId !== undefined && { contextId }), ...(state && { state }) };
  const index = `tasks_by${contextId === undefined ? '' : '_context'}${state ? '_state' : ''}_change`;
  const where = [
    ...(contextId === undefined ? [] : ['context_id = :contextId']),
    ...(state ? ['state = :state'] : []),
    'changed_at >= :changedAfter',
  ];
  return {
    source: `FROM tasks INDEXED BY ${index} WHERE ${where.join(' AND ')} ${owned.where}`,
    values: { ...named, ...owned.values, changedAfter: changedAfter ?? 0 },
  };
}
