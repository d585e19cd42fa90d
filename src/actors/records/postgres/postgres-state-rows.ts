import type { StateHistory } from '../../../machines/task/entered-state.ts';
import { historyOf, type KeptStates } from '../store/kept-states.ts';
import type { StateRows } from '../store/task-rows.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** Chart states that tasks have entered, in PostgreSQL. */
export class PostgresStateRows implements StateRows {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async of(taskId: string): Promise<StateHistory> {
    const rows = await this.#database.query<KeptStates>(
      'SELECT first, entered, states FROM task_states WHERE task_id = $1 ORDER BY first',
      [taskId],
    );
    const [task] = await this.#database.query<{ machine_version: number }>(
      'SELECT machine_version FROM tasks WHERE id = $1',
      [taskId],
    );
    return historyOf(rows, task?.machine_version ?? 0);
  }
}
