import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { checkpoint } from '../audit/chain-format.ts';
import { chainLine } from '../audit/chain-line.ts';
import type { AuditEvent } from '../ports.ts';
import { type AuditHead, type AuditRecovery, adoptLog, mendTail, writeWhole } from './audit-head.ts';

/** Events between two checkpoints (contract section 10). */
const checkpointEvery = 1_000;

/** How to open the log of an agent. */
export interface AuditFileOptions {
  path: string;
  /** False leaves `prev_hash` out. */
  chain: boolean;
  database: DatabaseSync;
}

/**
 * The audit log as a file that never disagrees with the store: lines are appended inside the
 * store's transaction and kept in its outbox until the file itself is known to be on disk, so
 * that after a crash or a power cut either both have them or neither.
 */
export class AuditFile {
  /** What opening the log had to mend. */
  readonly recovery: AuditRecovery;
  readonly #descriptor: number;
  readonly #chain: boolean;
  readonly #sql: Record<'head' | 'advance' | 'keep' | 'letGo', StatementSync>;
  #head: AuditHead;
  #synced = 0;

  private constructor(descriptor: number, head: AuditHead, options: AuditFileOptions) {
    this.recovery = mendTail(descriptor, options.path, head, options.database);
    this.#descriptor = descriptor;
    this.#chain = options.chain;
    this.#sql = prepare(options.database);
    this.#head = head;
  }

  /** Opens the log and mends its tail. Throws StoreError when lines are missing or it does not verify. */
  static async open(options: AuditFileOptions): Promise<AuditFile> {
    const { path, chain, database } = options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const descriptor = openSync(path, 'a+', 0o600);
    try {
      const head = readHead(prepare(database).head) ?? (await adoptLog(path, chain));
      database
        .prepare('INSERT OR IGNORE INTO audit_head VALUES (1, ?, ?, ?, ?)')
        .run(head.bytes, head.events, head.hash, head.checkpointed);
      return new AuditFile(descriptor, head, options);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /** Lines in the log. */
  get events(): number {
    return this.#head.events;
  }

  /**
   * Appends events inside the open transaction of the store. Throws when the file cannot take
   * them; call `rollBack` then, and also when the transaction fails later.
   */
  append(events: readonly AuditEvent[]): void {
    // Another process may have written since; its commit moved the head.
    const head = readHead(this.#sql.head) ?? this.#head;
    this.#head = head;
    if (events.length === 0) return;
    const { bytes, next } = this.#chained(events, head);
    writeWhole(this.#descriptor, bytes);
    this.#sql.keep.run(head.bytes, bytes);
    this.#sql.advance.run(next.bytes, next.events, next.hash, next.checkpointed);
    this.#sql.letGo.run(this.#synced);
    this.#head = next;
  }

  /** Takes back what `append` wrote since the last commit. */
  rollBack(): void {
    this.#head = readHead(this.#sql.head) ?? this.#head;
    if (fstatSync(this.#descriptor).size > this.#head.bytes) {
      ftruncateSync(this.#descriptor, this.#head.bytes);
    }
  }

  /** Puts the lines on disk, after which the outbox lets go of them. Rejects when the disk refuses. */
  sync(): Promise<void> {
    const { bytes } = this.#head;
    if (this.#synced === bytes) return Promise.resolve();
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => {
        if (error !== null) return reject(error);
        this.#synced = bytes;
        return resolve();
      });
    });
  }

  /** Syncs and closes the file. */
  close(): void {
    fdatasyncSync(this.#descriptor);
    this.#sql.letGo.run(this.#head.bytes);
    closeSync(this.#descriptor);
  }

  #chained(events: readonly AuditEvent[], head: AuditHead): { bytes: Buffer; next: AuditHead } {
    const next = { ...head };
    let text = '';
    const add = (event: AuditEvent): void => {
      const { line, hash } = chainLine(event, this.#chain ? next.hash : null);
      text += `${line}\n`;
      next.hash = hash;
      next.events += 1;
    };
    for (const event of events) {
      add(event);
      if (next.events - next.checkpointed >= checkpointEvery) {
        add(checkpoint(event.ts, { count: next.events, head: next.hash }));
        next.checkpointed = next.events;
      }
    }
    const bytes = Buffer.from(text);
    next.bytes += bytes.length;
    return { bytes, next };
  }
}

function prepare(database: DatabaseSync): Record<'head' | 'advance' | 'keep' | 'letGo', StatementSync> {
  return {
    head: database.prepare('SELECT bytes, events, hash, checkpointed FROM audit_head'),
    advance: database.prepare(
      'UPDATE audit_head SET bytes = ?, events = ?, hash = ?, checkpointed = ?',
    ),
    keep: database.prepare('INSERT INTO audit_outbox (offset, lines) VALUES (?, ?)'),
    letGo: database.prepare('DELETE FROM audit_outbox WHERE offset < ?'),
  };
}

function readHead(statement: StatementSync): AuditHead | null {
  const row = statement.get();
  if (row === undefined) return null;
  return {
    bytes: Number(row['bytes']),
    events: Number(row['events']),
    hash: String(row['hash']),
    checkpointed: Number(row['checkpointed']),
  };
}
