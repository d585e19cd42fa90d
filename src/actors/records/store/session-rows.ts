import type { DatabaseSync } from 'node:sqlite';
import type { Owner, Task } from '../../../machines/task/task.ts';
import { columnsOfOwner } from './task-owners.ts';
import { taskOf, wholeColumns } from './task-row.ts';

/** Most tasks of a caller that are looked through for one page of sessions. */
const mostTasks = 2_000;

/** A page of the contexts of one owner; `cursor` asks for the next one, and a page may be short of its limit. */
export interface ContextPage {
  contexts: { id: string; changedAt: number }[];
  cursor: string | null;
}

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

  /**
   * Lists the contexts of one owner with the time of their last change in epoch milliseconds, newest first: each stands
   * where the task of it stands that changed last. `cursor` comes from the page before.
   */
  contextsOf(owner: Owner | null, limit: number, cursor?: string): ContextPage {
    const [at = Number.MAX_SAFE_INTEGER, position = Number.MAX_SAFE_INTEGER] =
      cursor?.split('-').map(Number) ?? [];
    const [org, key] = columnsOfOwner(owner);
    const contexts: ContextPage['contexts'] = [];
    let looked = 0;
    let last = '';
    for (const row of this.#sql.contexts.iterate({ org, key, at, position, most: mostTasks + 1 })) {
      if (contexts.length === limit || looked === mostTasks) return { contexts, cursor: last };
      looked += 1;
      last = `${String(row['changed_at'])}-${String(row['position'])}`;
      if (row['is_newest'] === 0) continue;
      contexts.push({ id: String(row['context_id']), changedAt: Number(row['changed_at']) });
    }
    return { contexts, cursor: null };
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
