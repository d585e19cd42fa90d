import type { Task } from '../../../machines/task/task.ts';
import { addedTo, largestPage, type TaskPage } from './task-page.ts';
import { type TaskRow, taskOf } from './task-row.ts';
import type { ContextPage } from './task-rows.ts';

/** Most tasks of a caller that are looked through for one page of sessions. */
export const mostTasks = 2_000;

/**
 * Puts a page together from rows in the order of a list, of which it reads no more than it shows and one; each has its
 * `size` in bytes.
 */
export function collectPage(
  rows: Iterable<TaskRow>,
  limit: number,
  cursorOf: (row: TaskRow) => string,
): TaskPage {
  const tasks: Task[] = [];
  let bytes = 0;
  let cursor: string | null = null;
  for (const row of rows) {
    if (tasks.length === limit) return { tasks, cursor };
    const task = taskOf(row);
    bytes += Number(row['size']) + addedTo(task);
    if (bytes > largestPage && tasks.length > 0) return { tasks, cursor };
    tasks.push(task);
    cursor = cursorOf(row);
  }
  return { tasks, cursor: null };
}

/** Writes where a row stands in a list by the time of its change. */
export function changeCursor(row: TaskRow): string {
  return `${String(row['changed_at'])}-${String(row['position'])}`;
}

/** Writes where a row stands in the list of what waits. */
export function deadlineCursor(row: TaskRow): string {
  return `${String(row['expires_at'])}-${String(row['position'])}`;
}

/** Puts a page of contexts together from rows of tasks, of which those count that changed last in their context. */
export function collectContexts(
  rows: Iterable<TaskRow>,
  limit: number,
  isNewest: (row: TaskRow) => boolean,
): ContextPage {
  const contexts: ContextPage['contexts'] = [];
  let looked = 0;
  let last = '';
  for (const row of rows) {
    if (contexts.length === limit || looked === mostTasks) return { contexts, cursor: last };
    looked += 1;
    last = changeCursor(row);
    if (!isNewest(row)) continue;
    contexts.push({ id: String(row['context_id']), changedAt: Number(row['changed_at']) });
  }
  return { contexts, cursor: null };
}
