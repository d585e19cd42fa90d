import type { DatabaseSync } from 'node:sqlite';
import type { TaskState } from '../../../machines/domain/task.ts';

type Counts = Partial<Record<TaskState, number>>;

/**
 * Counts the tasks of a store by state. The first count reads every task; from then on triggers of this connection, the
 * only one that writes, keep the counts in memory and in the transaction of each change.
 */
export class StateCounts {
  readonly #database: DatabaseSync;
  #read: (() => Counts) | null = null;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Returns the number of tasks by state; states without tasks are omitted. */
  now(): Counts {
    this.#read ??= this.#begin();
    return this.#read();
  }

  #begin(): () => Counts {
    // Otherwise each change could write a temporary file.
    this.#database.exec('PRAGMA temp_store = MEMORY');
    // Nothing of the file is written, so that a full disk can be counted too.
    this.#database.exec(schema);
    const counted = this.#database.prepare('SELECT state, tasks FROM state_counts WHERE tasks > 0');
    return () =>
      Object.fromEntries(
        counted.all().map((row) => [String(row['state']), Number(row['tasks'])]),
      ) as Counts;
  }
}

const added = `INSERT INTO state_counts VALUES (NEW.state, 1)
  ON CONFLICT (state) DO UPDATE SET tasks = tasks + 1`;
const removed = 'UPDATE state_counts SET tasks = tasks - 1 WHERE state = OLD.state';

/** May run again after a failure. Nothing else uses the connection meanwhile. */
const schema = `
  CREATE TEMP TABLE IF NOT EXISTS state_counts (state TEXT PRIMARY KEY, tasks INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TEMP TRIGGER IF NOT EXISTS count_new_task AFTER INSERT ON main.tasks BEGIN ${added}; END;
  CREATE TEMP TRIGGER IF NOT EXISTS count_deleted_task AFTER DELETE ON main.tasks BEGIN ${removed}; END;
  CREATE TEMP TRIGGER IF NOT EXISTS count_changed_task AFTER UPDATE OF state ON main.tasks
    WHEN OLD.state <> NEW.state BEGIN ${removed}; ${added}; END;
  DELETE FROM state_counts;
  INSERT INTO state_counts SELECT state, count(*) FROM main.tasks GROUP BY state;`;
