import { everything } from '../../machines/task/task-access.ts';
import type {
  ChangedQuery,
  TaskFilter,
  TaskPage,
  TaskQuery,
  TaskRows,
} from '../records/records.ts';
import { Turns } from './turns.ts';

/** Lists the tasks of a scope as they stand on disk. Many lists at once hold nothing else up. */
export class TaskLists {
  readonly #rows: TaskRows;
  readonly #turns = new Turns();

  constructor(rows: TaskRows) {
    this.#rows = rows;
  }

  /** Lists tasks, the one that was made last first. */
  async made(query: TaskQuery, scope = everything): Promise<TaskPage> {
    await this.#turns.next();
    return this.#rows.listing.made(query, scope);
  }

  /** Lists tasks, the one whose state changed last first. */
  async changed(query: ChangedQuery, scope = everything): Promise<TaskPage> {
    await this.#turns.next();
    return this.#rows.listing.changed(query, scope);
  }

  /** Counts the tasks that a listing without its pages would show, up to a limit of its own. */
  total(filter: TaskFilter, scope = everything): number {
    return this.#rows.listing.total(filter, scope);
  }
}
