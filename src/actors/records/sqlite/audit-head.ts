import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { AuditHead } from '../store/audit-head.ts';

/** Committed lines that may not be on disk yet. */
export interface OutboxLines {
  /** Offset of the lines in the file. */
  offset: number;
  lines: Uint8Array;
}

/** Statements on the store's audit log tables. */
export class AuditRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** Returns the position of the log; `null` in a new store. */
  read(): AuditHead | null {
    const row = this.#sql.read.get();
    return row === undefined ? null : headOf(row);
  }

  /** Imports the position of a log unless one is already stored; returns whether it did. */
  importHead(head: AuditHead): boolean {
    this.#sql.importHead.run();
    const isUnknown = this.read()?.first === 0;
    if (isUnknown) this.advance(head);
    return isUnknown;
  }

  /** Stores the position of the log. */
  advance(head: AuditHead): void {
    const { bytes, events, hash, checkpointed, first, opened, keptFrom, finishing } = head;
    this.#sql.advance.run(
      bytes,
      events,
      hash,
      checkpointed,
      first,
      opened,
      keptFrom,
      finishing?.first ?? null,
      finishing?.bytes ?? null,
    );
  }

  /** Stores lines in the outbox until the file is confirmed on disk. */
  keep(offset: number, lines: Uint8Array): void {
    this.#sql.keep.run(offset, lines);
  }

  /** Removes the lines before an offset of the file that starts with line `first`. */
  releaseLines(first: number, offset: number): void {
    this.#sql.releaseLines.run(offset, first);
  }

  /** Removes all lines. */
  releaseAll(): void {
    this.#sql.releaseAll.run();
  }

  /** Yields the stored lines in order. */
  *outbox(): Generator<OutboxLines> {
    for (const row of this.#sql.outbox.iterate()) {
      yield { offset: Number(row['offset']), lines: row['lines'] as Uint8Array };
    }
  }
}

function headOf(row: Record<string, SQLOutputValue>): AuditHead {
  const finishing = row['finishing_first'];
  return {
    bytes: Number(row['bytes']),
    events: Number(row['events']),
    hash: String(row['hash']),
    checkpointed: Number(row['checkpointed']),
    first: Number(row['first']),
    opened: String(row['opened']),
    keptFrom: Number(row['kept_from']),
    finishing:
      finishing === null
        ? null
        : { first: Number(finishing), bytes: Number(row['finishing_bytes']) },
  };
}

function prepare(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    // A first line of 0 marks a row without a known position.
    importHead:
      sql(`INSERT OR IGNORE INTO audit_head (one, bytes, events, hash, checkpointed, first)
      VALUES (1, 0, 0, '', 0, 0)`),
    read: sql('SELECT * FROM audit_head'),
    advance: sql(`UPDATE audit_head SET bytes = ?, events = ?, hash = ?, checkpointed = ?,
      first = ?, opened = ?, kept_from = ?, finishing_first = ?, finishing_bytes = ?`),
    keep: sql('INSERT INTO audit_outbox (offset, lines) VALUES (?, ?)'),
    releaseLines: sql(`DELETE FROM audit_outbox WHERE offset < ?
      AND (SELECT first FROM audit_head WHERE finishing_first IS NULL) = ?`),
    releaseAll: sql('DELETE FROM audit_outbox'),
    outbox: sql('SELECT offset, lines FROM audit_outbox ORDER BY offset'),
  };
}
