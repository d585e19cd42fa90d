import type { TimeRange } from '../../../machines/time-range.ts';
import {
  type Exporting,
  type ExportSummary,
  exportFrom,
  type TakeLine,
} from '../log/export-task.ts';
import { timeOf } from '../log/time-in-file.ts';
import type { ChainVerdict } from '../log/verdict.ts';
import { type VerifyFilesOptions, verifyNamed } from '../log/verify-files.ts';
import { positionsOf, type TimedEntry } from '../store/range-of-time.ts';
import { readLines } from './committed-lines.ts';
import { DatabaseError, databaseError } from './database-error.ts';
import { checkSchema, findSchema } from './known-schema.ts';
import { type PostgresAddress, PostgresDatabase } from './postgres-database.ts';

/** Location and owner of a log. */
export interface LogAddress extends Omit<PostgresAddress, 'pool'> {
  /** The expected agent; `null` if unknown. */
  agentId: string | null;
}

/** Position of a log according to its store. */
export interface LogHead {
  /** Lines in the log, including deleted ones. */
  events: number;
  /** Hash of the last line. */
  hash: string;
}

const mostLines = 1_000;

/**
 * Reads the audit log of an agent from PostgreSQL, without joining its daemons. All methods reject with DatabaseError
 * when the database cannot be read.
 */
export class PostgresLog {
  /** Name of the log, used in place of a file name. */
  readonly name: string;
  readonly #address: LogAddress;
  readonly #database: PostgresDatabase;

  private constructor(address: LogAddress, database: PostgresDatabase) {
    this.name = `postgres:${address.schema}`;
    this.#address = address;
    this.#database = database;
  }

  /** Loads the driver; does not connect yet. The caller must close it. */
  static async load(address: LogAddress): Promise<PostgresLog> {
    return new PostgresLog(address, await PostgresDatabase.load({ ...address, pool: 1 }));
  }

  /** Returns whether there is a log. Rejects if it belongs to another agent or a later version. */
  isThere(): Promise<boolean> {
    const { schema } = this.#address;
    return this.#asked(async () => {
      const found = await findSchema(schema, (sql) => this.#database.query(sql));
      // Reading releases no call, also over a copy.
      if (found !== null) checkSchema(found, { ...this.#address, acceptsCopy: true });
      return found !== null && found.version > 0;
    });
  }

  /** Rejects unless there is a readable log. */
  async check(): Promise<void> {
    if (await this.isThere()) return;
    const { schema } = this.#address;
    const nothing = Object.assign(new Error(`no tables in ${schema}`), { code: 'ENOENT' });
    throw new DatabaseError(
      `there is no audit log in the schema ${schema}`,
      'start the agent once, or correct store.schema',
      nothing,
    );
  }

  /** Returns the position of the log. */
  async head(): Promise<LogHead> {
    const rows = await this.#asked(() =>
      this.#database.query<{ events: number; hash: string }>('SELECT events, hash FROM audit_head'),
    );
    return rows[0] ?? { events: 0, hash: '' };
  }

  /** Returns the first remaining line; `null` if there is none. */
  async firstLine(): Promise<Uint8Array | null> {
    const { texts } = await this.#asked(() => readLines(this.#database, 0, 1));
    return texts[0] === undefined ? null : Buffer.from(texts[0]);
  }

  /** Yields the existing lines after one number up to another. */
  async *pages(
    after: number,
    last = Number.MAX_SAFE_INTEGER,
  ): AsyncGenerator<{ first: number; texts: string[] }> {
    for (let next = after; next < last; ) {
      const { first, texts } = await this.#asked(() => readLines(this.#database, next));
      const wanted = texts.slice(0, Math.max(0, last - first + 1));
      if (wanted.length === 0) return;
      yield { first, texts: wanted };
      next = first + texts.length - 1;
    }
  }

  /** Finds the lines that can lie in a range of time: the number of the first, and of the one after the last. */
  async numbersOf(range: TimeRange): Promise<{ from: number; to: number }> {
    const { events } = await this.head();
    return positionsOf(range, { first: 1, end: events + 1 }, (number) => this.#firstTimed(number));
  }

  /** Yields the lines from one number up to another, last first. */
  async *fromEnd(last: number, first = 1): AsyncGenerator<string> {
    for (let next = last; ; ) {
      const rows = await this.#asked(() =>
        this.#database.query<{ line: number; text: string }>(
          `SELECT line, text FROM audit_lines WHERE line <= $1 AND line >= $2
            ORDER BY line DESC LIMIT ${mostLines}`,
          [next, first],
        ),
      );
      for (const { text } of rows) yield text;
      const lowest = rows.at(-1)?.line;
      if (lowest === undefined) return;
      next = lowest - 1;
    }
  }

  /** Verifies the log like `verifyFiles`, and that it ends at the position recorded in its store. */
  async verify(options: VerifyFilesOptions = {}): Promise<ChainVerdict> {
    const { events, hash } = await this.head();
    const chunks = this.#chunks(events);
    const verdict = await verifyNamed([{ name: this.name, chunks }], options);
    if (!verdict.ok || verdict.head === hash || events === 0) return verdict;
    const broken = {
      file: this.name,
      line: verdict.events + 1,
      reason: 'the last line is not the one that the store knows' as const,
      expected: hash,
      actual: verdict.head,
    };
    options.onBreak?.(broken);
    return { ok: false, ...broken };
  }

  /** Exports the lines of a task, like `exportTask`. */
  async exportTask(exporting: Exporting, take: TakeLine): Promise<ExportSummary> {
    const { from, to } = exporting.withProof
      ? { from: 1, to: Infinity }
      : await this.numbersOf(exporting);
    const part = { path: this.name, lines: () => this.#lines(from - 1, to - 1) };
    return exportFrom([part], exporting, take);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async *#chunks(last: number): AsyncGenerator<string> {
    for await (const { texts } of this.pages(0, last)) {
      yield texts.map((text) => `${text}\n`).join('');
    }
  }

  async *#lines(after: number, last: number): AsyncGenerator<Uint8Array> {
    for await (const { texts } of this.pages(after, last)) {
      for (const text of texts) yield Buffer.from(text);
    }
  }

  async #firstTimed(number: number): Promise<TimedEntry | null> {
    for (let next = number - 1; ; ) {
      const { first, texts } = await this.#asked(() => readLines(this.#database, next, 1));
      if (texts[0] === undefined) return null;
      const at = timeOf(Buffer.from(texts[0]));
      if (at !== null) return { position: first, at };
      next = first;
    }
  }

  async #asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      throw databaseError(error, this.#address);
    }
  }
}
