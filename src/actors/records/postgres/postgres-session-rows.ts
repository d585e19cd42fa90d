import type { Owner, Task } from '../../../machines/domain/task.ts';
import { collectContexts, mostTasks } from '../store/collect-page.ts';
import { columnsOfOwner } from '../store/task-owners.ts';
import { briefColumns, type TaskRow, taskOf, wholeColumns } from '../store/task-row.ts';
import type { ContextPage, SessionRows } from '../store/task-rows.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { valuesSql } from './task-values.ts';

const largest = Number.MAX_SAFE_INTEGER;

const newest = 'changed_at DESC, position DESC';

/**
 * SQL for whether a row belongs to an owner. The concatenations exclude the index of owners: its order tempts
 * PostgreSQL to read every task of an owner to find those of one context.
 */
const isOwnedBy = (table: string, org: string, owner: string): string =>
  `${table}.owner_org || '' = ${org} AND ${table}.owner || '' = ${owner}`;

/** Tasks of one owner by context, in PostgreSQL. */
export class PostgresSessionRows implements SessionRows {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async *newestOf(contextId: string, owner: Owner | null, limit: number): AsyncGenerator<Task> {
    yield* (await this.#ofContext(contextId, owner, newest, limit)).map(taskOf);
  }

  async briefsOf(contextId: string, owner: Owner | null, limit: number): Promise<Task[]> {
    return (await this.#ofContext(contextId, owner, newest, limit, briefColumns(valuesSql))).map(
      taskOf,
    );
  }

  async firstOf(contextId: string, owner: Owner | null): Promise<Task | undefined> {
    const [row] = await this.#ofContext(contextId, owner, 'changed_at, position', 1);
    return row === undefined ? undefined : taskOf(row);
  }

  async contextsOf(owner: Owner | null, limit: number, cursor?: string): Promise<ContextPage> {
    const [at = largest, position = largest] = cursor?.split('-').map(Number) ?? [];
    const rows = await this.#database.query<TaskRow>(
      `SELECT context_id, changed_at, position, (NOT EXISTS (
          SELECT 1 FROM tasks AS later
          WHERE later.context_id = tasks.context_id AND ${isOwnedBy('later', '$1', '$2')}
            AND (later.changed_at, later.position) > (tasks.changed_at, tasks.position)
        ))::int AS is_newest
        FROM tasks WHERE owner_org = $1 AND owner = $2
          AND (changed_at, position) < ($3::bigint, $4::bigint)
        ORDER BY changed_at DESC, position DESC LIMIT ${mostTasks + 1}`,
      [...columnsOfOwner(owner), at, position],
    );
    return collectContexts(rows, limit, (row) => row['is_newest'] === 1);
  }

  #ofContext(
    contextId: string,
    owner: Owner | null,
    order: string,
    limit: number,
    columns = wholeColumns(valuesSql),
  ): Promise<TaskRow[]> {
    return this.#database.query<TaskRow>(
      `SELECT ${columns} FROM tasks
        WHERE context_id = $1 AND ${isOwnedBy('tasks', '$2', '$3')} ORDER BY ${order} LIMIT $4`,
      [contextId, ...columnsOfOwner(owner), limit],
    );
  }
}
