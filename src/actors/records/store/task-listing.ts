import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Task, TaskState } from '../../../machines/task/task.ts';
import { everything, type TaskScope } from '../../../machines/task/task-access.ts';
import { scopeFilter } from './task-owners.ts';
import { briefColumns, type TaskRow, taskOf, wholeColumns } from './task-row.ts';

/** A page of tasks; `cursor` asks for the next one. */
export interface TaskPage {
  tasks: Task[];
  cursor: string | null;
}

/** Which part of a list is asked for. */
export interface PageQuery {
  limit: number;
  /** Comes from the page before. */
  cursor?: string;
  /** True brings what was said as well; without it history and answer are empty. */
  withContents?: boolean;
}

/** What to list, the task that was made last first. */
export interface TaskQuery extends PageQuery {
  state?: TaskState;
}

/** Which tasks are meant; all of them when nothing is said. */
export interface TaskFilter {
  state?: TaskState;
  contextId?: string;
  /** Epoch milliseconds. */
  changedAfter?: number;
}

/** What to list, the task that changed last first. */
export type ChangedQuery = PageQuery & TaskFilter;

/** Bytes of JSON at which a page ends, unless its first task alone is larger (contract section 5). */
export const largestPage = 4 * 1024 * 1024;

/** The number from which on tasks are not counted any more. */
export const mostCounted = 10_000;

/** Bytes that a surface adds to a task, and to each message, beside the ids that it may repeat there. */
const perTask = 1_024;
const perMessage = 256;

type Values = Record<string, string | number>;

/**
 * The lists of the tasks of an agent: each reads along one index, and no more rows than it shows. Whose a task
 * is stands in the index, so what the caller may not know of is passed over there.
 */
export class TaskListing {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Lists tasks, the one that was made last first; a task keeps its place whatever becomes of it. */
  made({ state, ...page }: TaskQuery, scope = everything): TaskPage {
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
  changed(query: ChangedQuery, scope = everything): TaskPage {
    const { source, values } = sourceOf(query, scope);
    const [at, position] = query.cursor?.split('-') ?? [];
    const before = {
      at: Number(at ?? Number.MAX_SAFE_INTEGER),
      position: Number(position ?? Number.MAX_SAFE_INTEGER),
    };
    const sql = `${source} AND (changed_at, position) < (:at, :position)
      ORDER BY changed_at DESC, position DESC`;
    return this.#page(
      sql,
      { ...values, ...before },
      query,
      (row) => `${String(row['changed_at'])}-${String(row['position'])}`,
    );
  }

  /** Counts the tasks that a filter lets through, up to `mostCounted`. */
  total(filter: TaskFilter, scope = everything): number {
    const { source, values } = sourceOf(filter, scope);
    const sql = `SELECT count(*) AS tasks FROM (SELECT 1 ${source} LIMIT ${mostCounted})`;
    return Number(this.#statement(sql).get(values)?.['tasks']);
  }

  #page(
    source: string,
    values: Values,
    { limit, withContents = false }: PageQuery,
    cursorOf: (row: TaskRow) => string,
  ): TaskPage {
    const size = withContents
      ? 'octet_length(task) + ifnull(octet_length(contents), 0)'
      : 'octet_length(task)';
    const columns = withContents ? wholeColumns : briefColumns;
    const sql = `SELECT ${columns}, ${size} AS size ${source} LIMIT :limit`;
    const tasks: Task[] = [];
    let bytes = 0;
    let cursor: string | null = null;
    for (const row of this.#statement(sql).iterate({ ...values, limit: limit + 1 })) {
      if (tasks.length === limit) return { tasks, cursor };
      const task = taskOf(row);
      bytes += Number(row['size']) + addedTo(task);
      if (bytes > largestPage && tasks.length > 0) return { tasks, cursor };
      tasks.push(task);
      cursor = cursorOf(row);
    }
    return { tasks, cursor: null };
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

/** Bytes by which a task may be longer on a surface than it is here, at most. */
function addedTo({ id, contextId, history }: Task): number {
  const ids = id.length + Buffer.byteLength(JSON.stringify(contextId));
  // The text of the state is a message as well.
  return perTask + (history.length + 1) * (perMessage + ids);
}
