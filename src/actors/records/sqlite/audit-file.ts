import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { AgentEntity } from '../log/agent-entity.ts';
import { finishedFilesOf, finishedPath } from '../log/log-files.ts';
import type { AuditHead } from '../store/audit-head.ts';
import type { AuditOpening, AuditRecovery } from '../store/audit-opening.ts';
import { NextLines } from '../store/next-lines.ts';
import { StoreError } from '../store/store-error.ts';
import { pruneFiles } from './archive-file.ts';
import { AuditRows } from './audit-head.ts';
import { checkLastLine } from './check-last-line.ts';
import { CurrentFile } from './current-file.ts';
import { importLog } from './import-log.ts';
import { beginTransaction } from './in-transaction.ts';
import { restoredMark } from './restored-mark.ts';
import { type KeepOptions, keepAhead, settle } from './settle-log.ts';
import { settleRestored } from './settle-restored.ts';
import { noteRestored } from './sqlite-ledger.ts';
import { SqliteTaskRows } from './sqlite-task-rows.ts';

/** Conditions for starting a new log file. */
export interface Rotation {
  /** Maximum size of a file in bytes; 0 for no limit. */
  maxBytes: number;
  /** True starts a new file each UTC day. */
  daily: boolean;
  /** Number of finished files to keep; 0 for all. */
  keep: number;
}

export interface AuditFileOptions extends KeepOptions {
  /** The agent and tenant of the log. */
  entity?: AgentEntity;
  /** When absent, the log remains a single file. */
  rotation?: Rotation;
  /** Returns epoch milliseconds; this machine's wall clock by default. */
  now?: () => number;
}

/**
 * The audit log as files that follow the commits of the store. Lines enter the store's outbox inside its transaction
 * and reach the file right after the commit, so a reader of the file sees committed lines only and no line ever
 * disappears from it. Lines stay in the outbox until the file is synced; opening writes what a crash kept from the file.
 */
export class AuditFile {
  /** What opening the log repaired. */
  readonly recovery: AuditRecovery;
  readonly #options: AuditFileOptions;
  readonly #rows: AuditRows;
  readonly #file: CurrentFile;
  #opening: AuditOpening = { behind: null, lost: null, restored: null, lines: null };
  /** Position of the last commit. */
  #head: AuditHead;
  /** With the lines of the open transaction. */
  #next: AuditHead;
  /** The bytes of the open transaction. */
  #appended: Uint8Array | null = null;
  /** Length of the file before which the outbox has no lines; `null` if it is not known. */
  #released: number | null = null;
  /** True while the outbox has lines of a file that is archived. */
  #isArchived = false;
  /** Time of a requested checkpoint that is not written yet. */
  #checkpointAt: string | null = null;
  #failure: Error | null = null;
  /** Repairs that the next transaction writes to the log. */
  #repairs: AuditEvent[] = [];

  private constructor(head: AuditHead, rows: AuditRows, options: AuditFileOptions) {
    this.#options = options;
    this.#rows = rows;
    this.#file = new CurrentFile({ path: options.path, rows, now: () => this.#now() });
    this.#head = head;
    this.#next = head;
    try {
      this.recovery = this.#settle(true);
      this.#note(this.recovery);
      checkLastLine(options.path, this.#head);
    } catch (error) {
      this.#file.abandon();
      throw error;
    }
  }

  /**
   * Opens the log and repairs its tail. Throws StoreBehindError when the log has lines that the store lacks and
   * `keepLog` is off, and StoreError when lines are missing or the log does not verify.
   */
  static async open(options: AuditFileOptions): Promise<AuditFile> {
    const { path, chain, database } = options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const rows = new AuditRows(database);
    const known = rows.read();
    const imported = known === null ? await importLog(path, chain) : null;
    const transaction = beginTransaction(database);
    let file: AuditFile | null = null;
    let isImported = false;
    try {
      isImported = imported !== null && rows.importHead(imported.head);
      const mark = restoredMark(database);
      const keepLog = options.keepLog === true || mark !== null;
      const ahead = await keepAhead(rows, { ...options, keepLog });
      file = new AuditFile(rows.read() as AuditHead, rows, options);
      const lost = isImported ? imported : null;
      const { events, ...found } = settle(lost?.lostWaits ?? null, ahead, file.#now());
      const back =
        mark && settleRestored(database, new SqliteTaskRows(database), mark, file.#now());
      if (found.behind !== null || found.lost !== null || back !== null) {
        noteRestored(database, file.#now());
      }
      const settled = [...events, ...(back?.events ?? [])];
      file.append(settled.map((event) => ({ ...options.entity, ...event })));
      transaction.commit();
      file.#opening = { ...found, restored: back?.restored ?? null, lines: file.committed() };
      if (file.#failure !== null) throw file.#failure;
    } catch (error) {
      if (file !== null) file.#file.abandon();
      transaction.abandon();
      throw error;
    }
    pruneFiles(path, file.#head.keptFrom);
    // A store that loses its latest commits is then recognised as an older one instead of a new one.
    if (isImported) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return file;
  }

  /** The findings of opening the log, other than repairs. */
  get opening(): AuditOpening {
    return this.#opening;
  }

  /** Number of lines in the log. */
  get events(): number {
    return this.#head.events;
  }

  /** Why the file lacks committed lines; `null` when it has all of them. */
  get failure(): Error | null {
    return this.#failure;
  }

  /**
   * Brings the file to the last commit; called first in each transaction of the store. Throws when the file does not
   * accept the lines, or StoreError when another program removed lines.
   */
  begin(): void {
    const { events } = this.#head;
    this.#head = this.#rows.read() ?? this.#head;
    this.#next = this.#head;
    this.#isArchived = false;
    const mended = this.#settle(false);
    // Lines that this process could not write, or another one has not written yet, are no repair.
    if (this.#failure === null && events === this.#head.events) this.#note(mended);
    this.#failure = null;
  }

  /** Adds events to the open transaction of the store. */
  append(events: readonly AuditEvent[]): void {
    const isCheckpointDue =
      this.#checkpointAt !== null && this.#head.events > this.#head.checkpointed;
    const added = [...this.#repairs, ...events];
    if (added.length === 0 && !isCheckpointDue) return;
    const lines = this.#nextLines();
    if (this.#head.bytes === 0) this.#openFile(lines);
    if (lines.head.opened === '') lines.head.opened = this.#day();
    lines.add(added);
    if (this.#checkpointAt !== null && lines.head.events > lines.head.checkpointed) {
      lines.checkpoint(this.#checkpointAt);
    }
    this.#write(lines.take(), lines.head);
  }

  /** Returns whether the current file has reached its maximum size or its day has ended. */
  isRotationDue(): boolean {
    const { maxBytes = 0, daily = false } = this.#options.rotation ?? {};
    const { bytes, opened } = this.#head;
    if (bytes === 0) return false;
    return (maxBytes > 0 && bytes >= maxBytes) || (daily && opened !== '' && opened < this.#day());
  }

  /**
   * Ends the current file inside the open transaction of the store; `begin` of the next transaction archives it. Throws
   * StoreError when another file has the name of the archive.
   */
  finish(): void {
    const { path } = this.#options;
    const { first } = this.#head;
    const finished = finishedPath(path, first);
    if (existsSync(finished)) {
      throw new StoreError(
        `${finished} is in the way of the audit log, whose file is to get that name; move it away`,
      );
    }
    const lines = this.#nextLines();
    lines.add(this.#repairs);
    lines.endFile(this.#time(), finished);
    const bytes = lines.take();
    const { head } = lines;
    const finishing = { first, bytes: head.bytes };
    this.#write(bytes, { ...head, bytes: 0, first: head.events + 1, opened: '', finishing });
  }

  /** Throws when the file or the database has no room. */
  probe(): void {
    this.#file.probe();
    if (this.#isArchived) this.#rows.releaseAll();
    this.#rows.advance(this.#head);
  }

  /**
   * Writes the lines of the committed transaction to the file and returns them. A file that does not accept them sets
   * `failure`: the lines are committed, and `begin` of the next transaction writes them.
   */
  committed(): Uint8Array | null {
    const appended = this.#appended;
    const { keptFrom, first, bytes } = this.#head;
    this.#head = this.#next;
    this.#appended = null;
    this.#checkpointAt = null;
    if (appended === null) return null;
    this.#isArchived = false;
    this.#repairs = [];
    try {
      this.#file.append(first, bytes, appended);
    } catch (error) {
      this.#failure = error as Error;
    }
    if (keptFrom !== this.#head.keptFrom) pruneFiles(this.#options.path, this.#head.keptFrom);
    return appended;
  }

  /** Requests a checkpoint in the next transaction, unless nothing was written since the last one. */
  requestCheckpoint(ts: string): void {
    this.#checkpointAt = ts;
  }

  /** Drops the lines of a transaction that failed. */
  rollBack(): void {
    this.#next = this.#head;
    this.#appended = null;
    this.#released = null;
  }

  /** Syncs the lines to disk; the next commit releases them from the outbox. Rejects when the disk refuses. */
  async sync(): Promise<void> {
    await this.#file.sync(this.#head);
  }

  /** Flushes and closes the file. */
  close(): void {
    this.#file.close(this.#head);
  }

  #settle(isOpening: boolean): AuditRecovery {
    const mended = this.#file.settle(this.#head, isOpening);
    if (this.#head.finishing !== null) {
      this.#isArchived = true;
      this.#head = { ...this.#head, finishing: null };
      this.#next = this.#head;
    }
    return mended;
  }

  /** Has the next transaction log a repair. */
  #note({ torn, replayed }: AuditRecovery): void {
    if (torn === null && replayed === 0) return;
    const fields = { ...torn, ...(replayed === 0 ? {} : { replayed }) };
    const { entity } = this.#options;
    this.#repairs.push({ ...entity, ts: this.#time(), event: 'audit_recovered', fields });
  }

  #nextLines(): NextLines {
    const { chain, signer = null } = this.#options;
    return new NextLines(this.#head, { chain, signer });
  }

  #openFile(lines: NextLines): void {
    const { path, rotation } = this.#options;
    const { first, keptFrom } = this.#head;
    const keep = rotation?.keep ?? 0;
    const finished = finishedFilesOf(path).filter((file) => file.first >= keptFrom);
    const pruned = keep === 0 ? [] : finished.slice(0, -keep);
    lines.openFile(this.#time(), pruned, finished[pruned.length]?.first ?? first);
  }

  #write(bytes: Uint8Array, next: AuditHead): void {
    const { first, bytes: offset } = this.#head;
    const synced = this.#file.syncedOf(first);
    if (this.#isArchived) this.#rows.releaseAll();
    else if (synced !== this.#released) this.#rows.releaseLines(first, synced);
    this.#released = synced;
    this.#rows.keep(offset, bytes);
    this.#rows.advance(next);
    this.#next = next;
    this.#appended = bytes;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  #time(): string {
    return new Date(this.#now()).toISOString();
  }

  #day(): string {
    return this.#time().slice(0, 10);
  }
}
