import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { isDamage } from '../store/store-error.ts';

type Rows = ReturnType<StatementSync['iterate']>;

/** A database that tells, whatever is asked of it, when its file turns out to be damaged. */
export class WatchedDatabase extends DatabaseSync {
  /** Hears of every answer that was prevented by damage; the error is thrown all the same. */
  onDamage: (error: unknown) => void = () => undefined;

  /** Closes the file, and hears of nothing more: Node keeps databases for longer than what they told. */
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
      // Asked several times for each request, so without a closure for each.
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
