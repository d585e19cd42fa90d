import type { DatabaseSync } from 'node:sqlite';
import type { Owner, Task } from '../../../machines/task/task.ts';
import { columnsOfOwner } from './task-owners.ts';
import { taskOf, wholeColumns } from './task-row.ts';

/** Most tasks of a caller that are looked through for sessions. */
const mostTasks = 2_000;

/** The tasks of one owner by the context that they belong to. */
export class SessionRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** Reads up to `limit` tasks of a context that one owner has, the one that changed last first. */
  *newestOf(contextId: string, owner: Owner | null, limit: number): Generator<Task> {
    const [org, key] = columnsOfOwner(owner);
    for (const row of this.#sql.newest.iterate(contextId, org, key, limit)) yield taskOf(row);
  }

  /** Returns the task of a context that changed longest ago, of those that one owner has. */
  firstOf(contextId: string, owner: Owner | null): Task | undefined {
    const row = this.#sql.first.get(contextId, ...columnsOfOwner(owner));
    return row === undefined ? undefined : taskOf(row);
  }

  /** Lists the contexts of one owner with the time of their last change in epoch milliseconds, newest first. */
  contextsOf(owner: Owner | null, limit: number): { id: string; changedAt: number }[] {
    const found = new Map<string, number>();
    for (const row of this.#sql.contexts.iterate(...columnsOfOwner(owner), mostTasks)) {
      const id = String(row['context_id']);
      if (found.has(id)) continue;
      if (found.size === limit) break;
      found.set(id, Number(row['changed_at']));
    }
    return [...found].map(([id, changedAt]) => ({ id, changedAt }));
  }
}

function prepare(database: DatabaseSync) {
  const ofContext = `FROM tasks INDEXED BY tasks_by_context_change
    WHERE context_id = ? AND owner_org = ? AND owner = ?`;
  return {
    newest: database.prepare(`SELECT ${wholeColumns} ${ofContext}
      ORDER BY changed_at DESC, position DESC LIMIT ?`),
    first: database.prepare(`SELECT ${wholeColumns} ${ofContext}
      ORDER BY changed_at, position LIMIT 1`),
    contexts: database.prepare(`SELECT context_id, changed_at FROM tasks INDEXED BY tasks_by_change
      WHERE changed_at >= 0 AND owner_org = ? AND owner = ?
      ORDER BY changed_at DESC, position DESC LIMIT ?`),
  };
}
