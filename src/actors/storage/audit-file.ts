import {
  closeSync,
  fchmodSync,
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
import {
  type AuditHead,
  type AuditRecovery,
  adoptLog,
  mendTail,
  writeWhole,
} from './audit-head.ts';

/** Events between two checkpoints (contract section 10). */
const checkpointEvery = 1_000;

/** What a disk has to have room for before it counts as writable again. */
const probeBytes = Buffer.alloc(64 * 1024);

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
  readonly #options: AuditFileOptions;
  readonly #sql: ReturnType<typeof prepare>;
  /** As of the last commit. */
  #head: AuditHead;
  /** With what was appended since. */
  #next: AuditHead;
  #synced = 0;
  /** When a checkpoint was asked for that is not written yet. */
  #checkpointAt: string | null = null;

  private constructor(descriptor: number, head: AuditHead, options: AuditFileOptions) {
    this.recovery = mendTail(descriptor, options.path, head, options.database);
    this.#descriptor = descriptor;
    this.#options = options;
    this.#sql = prepare(options.database);
    this.#head = head;
    this.#next = head;
  }

  /** Opens the log and mends its tail. Throws StoreError when lines are missing or it does not verify. */
  static async open(options: AuditFileOptions): Promise<AuditFile> {
    const { path, chain, database } = options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const descriptor = openSync(path, 'a+', 0o600);
    try {
      fchmodSync(descriptor, 0o600);
      const sql = prepare(database);
      const adopted = readHead(sql.head) ?? (await adoptLog(path, chain));
      // Under the lock, since another process may be in the middle of a commit.
      database.exec('BEGIN IMMEDIATE');
      sql.found.run(adopted.bytes, adopted.events, adopted.hash, adopted.checkpointed);
      const file = new AuditFile(descriptor, readHead(sql.head) ?? adopted, options);
      database.exec('COMMIT');
      return file;
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
   * Takes the log up where the last commit left it; to be called first in every transaction of the
   * store. Throws StoreError when lines were removed meanwhile.
   */
  begin(): void {
    const { path, database } = this.#options;
    // Another process may have written since; its commit moved the head.
    this.#head = readHead(this.#sql.head) ?? this.#head;
    this.#next = this.#head;
    if (fstatSync(this.#descriptor).size !== this.#head.bytes) {
      mendTail(this.#descriptor, path, this.#head, database);
    }
  }

  /**
   * Appends events inside the open transaction of the store. Throws when the file cannot take
   * them; call `rollBack` then, and also when the transaction fails later.
   */
  append(events: readonly AuditEvent[]): void {
    if (events.length === 0 && !this.#isCheckpointDue()) return;
    const { bytes, next } = this.#chained(events, this.#head);
    writeWhole(this.#descriptor, bytes);
    this.#sql.keep.run(this.#head.bytes, bytes);
    this.#sql.advance.run(next.bytes, next.events, next.hash, next.checkpointed);
    this.#sql.letGo.run(this.#synced);
    this.#next = next;
  }

  /** Throws when neither file nor database take a write; what it writes is taken back. */
  probe(): void {
    writeWhole(this.#descriptor, probeBytes);
    ftruncateSync(this.#descriptor, this.#head.bytes);
    const { bytes, events, hash, checkpointed } = this.#head;
    this.#sql.advance.run(bytes, events, hash, checkpointed);
  }

  /** Takes what was appended for granted, once its transaction is committed. */
  committed(): void {
    this.#head = this.#next;
    this.#checkpointAt = null;
  }

  /** Has the next transaction state where the log stands, unless nothing was written since the last time. */
  requestCheckpoint(ts: string): void {
    this.#checkpointAt = ts;
  }

  #isCheckpointDue(): boolean {
    return this.#checkpointAt !== null && this.#head.events > this.#head.checkpointed;
  }

  /** Takes back what was appended; to be called while the transaction still holds the lock. */
  rollBack(): void {
    this.#next = this.#head;
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
      const { line, hash } = chainLine(event, this.#options.chain ? next.hash : null);
      text += `${line}\n`;
      next.hash = hash;
      next.events += 1;
    };
    const checkpointNow = (ts: string): void => {
      add(checkpoint(ts, { count: next.events, head: next.hash }));
      next.checkpointed = next.events;
    };
    for (const event of events) {
      add(event);
      if (next.events - next.checkpointed >= checkpointEvery) checkpointNow(event.ts);
    }
    if (this.#checkpointAt !== null && next.events > next.checkpointed) {
      checkpointNow(this.#checkpointAt);
    }
    const bytes = Buffer.from(text);
    next.bytes += bytes.length;
    return { bytes, next };
  }
}

function prepare(database: DatabaseSync) {
  return {
    found: database.prepare('INSERT OR IGNORE INTO audit_head VALUES (1, ?, ?, ?, ?)'),
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
