import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Owner, Task } from '../../../machines/domain/task.ts';
import { collectContexts, mostTasks } from '../store/collect-page.ts';
import { columnsOfOwner } from '../store/task-owners.ts';
import { briefColumns, taskOf, wholeColumns } from '../store/task-row.ts';
import type { ContextPage, SessionRows } from '../store/task-rows.ts';
import { valuesSql } from './task-parts.ts';

/** Tasks of one owner by context. */
export class SqliteSessionRows implements SessionRows {
  readonly #sql;
  /** Statements for `newestOf` that no reader uses. */
  readonly #idle: StatementSync[] = [];

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** Reads up to `limit` tasks of an owner in a context, latest change first. */
  async *newestOf(contextId: string, owner: Owner | null, limit: number): AsyncGenerator<Task> {
    const [org, key] = columnsOfOwner(owner);
    // Each reader needs its own statement: a concurrent use would reset it.
    const newest = this.#idle.pop() ?? this.#sql.newest();
    try {
      for (const row of newest.iterate(contextId, org, key, limit)) yield taskOf(row);
    } finally {
      this.#idle.push(newest);
    }
  }

  async briefsOf(contextId: string, owner: Owner | null, limit: number): Promise<Task[]> {
    return this.#sql.briefs.all(contextId, ...columnsOfOwner(owner), limit).map(taskOf);
  }

  /** Returns the task of an owner in a context with the oldest change. */
  async firstOf(contextId: string, owner: Owner | null): Promise<Task | undefined> {
    const row = this.#sql.first.get(contextId, ...columnsOfOwner(owner));
    return row === undefined ? undefined : taskOf(row);
  }

  /**
   * Lists the contexts of an owner with the time of their latest change in epoch milliseconds, newest first. `cursor`
   * comes from the previous page.
   */
  async contextsOf(owner: Owner | null, limit: number, cursor?: string): Promise<ContextPage> {
    const [at = Number.MAX_SAFE_INTEGER, position = Number.MAX_SAFE_INTEGER] =
      cursor?.split('-').map(Number) ?? [];
    const [org, key] = columnsOfOwner(owner);
    const most = mostTasks + 1;
    const rows = this.#sql.contexts.iterate({ org, key, at, position, most });
    return collectContexts(rows, limit, (row) => row['is_newest'] !== 0);
  }
}

function prepare(database: DatabaseSync) {
  const ofContext = `FROM tasks INDEXED BY tasks_by_context_change
    WHERE context_id = ? AND owner_org = ? AND owner = ?`;
  return {
    newest: () =>
      database.prepare(`SELECT ${wholeColumns(valuesSql)} ${ofContext}
        ORDER BY changed_at DESC, position DESC LIMIT ?`),
    briefs: database.prepare(`SELECT ${briefColumns(valuesSql)} ${ofContext}
      ORDER BY changed_at DESC, position DESC LIMIT ?`),
    first: database.prepare(`SELECT ${wholeColumns(valuesSql)} ${ofContext}
      ORDER BY changed_at, position LIMIT 1`),
    contexts: database.prepare(`SELECT context_id, changed_at, position, NOT EXISTS (
        SELECT 1 FROM tasks AS later INDEXED BY tasks_by_context_change
        WHERE later.context_id = tasks.context_id AND later.owner_org = :org AND later.owner = :key
          AND (later.changed_at, later.position) > (tasks.changed_at, tasks.position)
      ) AS is_newest
      FROM tasks INDEXED BY tasks_by_change
      WHERE owner_org = :org AND owner = :key AND (changed_at, position) < (:at, :position)
      ORDER BY changed_at DESC, position DESC LIMIT :most`),
  };
}
