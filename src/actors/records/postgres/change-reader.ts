import type { OwnedTask } from '../../../machines/task/task-access.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** A change of a task by another daemon. */
export interface StoreChange {
  change: number;
  taskId: string;
  revision: number;
  /** Owner data of the task while its call was held, if the change ended the wait; `null` otherwise. */
  waited: OwnedTask | null;
}

interface ChangeRow {
  change: number;
  task_id: string;
  revision: number;
  waited: string | null;
}

/** Maximum changes per read. */
const mostAtOnce = 1_000;

/** Reads the commits of other daemons in order, from a position. */
export class ChangeReader {
  readonly #database: PostgresDatabase;
  readonly #replica: string;
  readonly #hear: (change: StoreChange) => Promise<void>;
  #position: number;
  #reading: Promise<void> | null = null;
  #behindSince: number | null = null;
  #isAskedAgain = false;

  /** @param position number of the last known change */
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

  /** Milliseconds since unread changes were first reported; 0 if there are none. */
  get lag(): number {
    return this.#behindSince === null ? 0 : Date.now() - this.#behindSince;
  }

  /** Reads new changes; a request during a read triggers another one after it. Never rejects. */
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
        // The reader is called again when the database is back.
        return;
      }
    } while (this.#isAskedAgain);
  }

  /** Returns whether there may be more changes. */
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
        change,
        taskId,
        revision,
        waited: waited === null ? null : (JSON.parse(waited) as OwnedTask),
      });
      this.#position = change;
    }
    if (rows.length === mostAtOnce) return true;
    // The remaining changes up to this number were made by this daemon.
    this.#position = upTo;
    return false;
  }
}
