import type { Task } from '../../../machines/domain/task.ts';
import { addedTo, largestPage, type TaskPage } from './task-page.ts';
import { type TaskRow, taskOf } from './task-row.ts';
import type { ContextPage } from './task-rows.ts';

/** Maximum tasks of a caller that are examined for one page of sessions. */
export const mostTasks = 2_000;

/** Creates a page from sorted rows, reading at most one row more than it returns; each row has its `size` in bytes. */
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

/** Returns the cursor of a row in a list sorted by change time. */
export function changeCursor(row: TaskRow): string {
  return `${String(row['changed_at'])}-${String(row['position'])}`;
}

/** Returns the cursor of a row in the list of waiting tasks. */
export function deadlineCursor(row: TaskRow): string {
  return `${String(row['expires_at'])}-${String(row['position'])}`;
}

/** Creates a page of contexts from task rows; only the last changed task of each context counts. */
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
