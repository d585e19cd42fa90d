import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { isDamage } from '../store/store-error.ts';

type Rows = ReturnType<StatementSync['iterate']>;

/** A database that reports damage to its file, found by any statement. */
export class WatchedDatabase extends DatabaseSync {
  /** Called for every statement that failed due to damage; the error is thrown as well. */
  onDamage: (error: unknown) => void = () => undefined;

  /** Closes the file and stops reporting; Node may keep the database object alive longer than its listener. */
  override close(): void {
    this.onDamage = () => undefined;
    super.close();
  }

  override exec(sql: string): void {
    this.#watch(() => super.exec(sql));
  }

  override prepare(sql: string): StatementSync {
    const statement = this.#watch(() => super.prepare(sql));
    const iterate = statement.iterate.bind(statement) as (...values: unknown[]) => Rows;
    const watch = <Answer>(answer: () => Answer): Answer => this.#watch(answer);
    for (const name of ['get', 'all', 'run'] as const) {
      const ask = statement[name] as (...values: unknown[]) => never;
      // Called several times per request, so no closure is created per call.
      statement[name] = (...values: unknown[]) => {
        try {
          return ask.apply(statement, values);
        } catch (error) {
          throw this.#noted(error);
        }
      };
    }
    statement.iterate = function* rows(...values: unknown[]) {
      const asked = watch(() => iterate(...values));
      try {
        for (let row = watch(() => asked.next()); row.done !== true; ) {
          yield row.value;
          row = watch(() => asked.next());
        }
      } finally {
        asked.return?.();
      }
    } as typeof statement.iterate;
    return statement;
  }

  #watch<Answer>(ask: () => Answer): Answer {
    try {
      return ask();
    } catch (error) {
      throw this.#noted(error);
    }
  }

  #noted(error: unknown): unknown {
    if (isDamage(error)) this.onDamage(error);
    return error;
  }
}
