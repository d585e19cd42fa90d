import type { OwnedTask } from '../../../machines/task/task-access.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** A change of a task by another daemon. */
export interface StoreChange {
  change: number;
  taskId: string;
  revision: number;
  /** Whose the task was while a call of it waited that waits no more; `null` when none did. */
  waited: OwnedTask | null;
}

interface ChangeRow {
  change: number;
  task_id: string;
  revision: number;
  waited: string | null;
}

/** Changes read at once. */
const mostAtOnce = 1_000;

/** Reads what other daemons have committed, in the order of their commits, from wherever it stands on. */
export class ChangeReader {
  readonly #database: PostgresDatabase;
  readonly #replica: string;
  readonly #hear: (change: StoreChange) => Promise<void>;
  #position: number;
  #reading: Promise<void> | null = null;
  #behindSince: number | null = null;
  #isAskedAgain = false;

  /** @param position the number of the last change that is known */
  constructor(
    {
      database,
      replica,
      position,
    }: { database: PostgresDatabase; replica: string; position: number },
    hear: (change: StoreChange) => Promise<void>,
  ) {
    this.#database = database;
    this.#replica = replica;
    this.#position = position;
    this.#hear = hear;
  }

  /** Milliseconds for which there has been something to read. */
  get lag(): number {
    return this.#behindSince === null ? 0 : Date.now() - this.#behindSince;
  }

  /** Reads what is new; what is asked for meanwhile is read after it. Never rejects. */
  read(): Promise<void> {
    if (this.#reading !== null) {
      this.#isAskedAgain = true;
      return this.#reading;
    }
    this.#behindSince ??= Date.now();
    this.#reading = this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      try {
        while (await this.#readSome());
        this.#behindSince = null;
      } catch {
        // It is asked again when the database is back.
        return;
      }
    } while (this.#isAskedAgain);
  }

  /** Returns whether there may be more. */
  async #readSome(): Promise<boolean> {
    const [head] = await this.#database.query<{ changes: number }>(
      'SELECT changes FROM audit_head',
    );
    const upTo = head?.changes ?? this.#position;
    if (upTo <= this.#position) return false;
    const rows = await this.#database.query<ChangeRow>(
      `SELECT change, task_id, revision, waited FROM task_changes
        WHERE change > $1 AND change <= $2 AND replica <> $3 ORDER BY change LIMIT ${mostAtOnce}`,
      [this.#position, upTo, this.#replica],
    );
    for (const { change, task_id: taskId, revision, waited } of rows) {
      await this.#hear({
        ...{ change, taskId, revision },
        waited: waited === null ? null : (JSON.parse(waited) as OwnedTask),
      });
      this.#position = change;
    }
    if (rows.length === mostAtOnce) return true;
    // What is left up to there was changed here.
    this.#position = upTo;
    return false;
  }
}
