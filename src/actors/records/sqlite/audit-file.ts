import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AuditEvent } from '../../ports.ts';
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
import { type KeepOptions, keepAhead, settle } from './settle-log.ts';

/** When a file of the log is finished and the next one begun. */
export interface Rotation {
  /** The length from which on a file is finished; 0 for never. */
  maxBytes: number;
  /** True finishes a file when its UTC day is over. */
  daily: boolean;
  /** How many finished files are kept; 0 for all. */
  keep: number;
}

export interface AuditFileOptions extends KeepOptions {
  /** Whose agent the log is. */
  entity?: AgentEntity;
  /** Without it the log stays one file. */
  rotation?: Rotation;
  /** Epoch milliseconds; the wall clock of this machine unless said otherwise. */
  now?: () => number;
}

/**
 * The audit log as a file that never disagrees with the store: lines are appended inside the
 * store's transaction and kept in its outbox until the file itself is known to be on disk, so
 * that after a crash or a power cut either both have them or neither. A finished file gets its
 * last line in one transaction and its name in the next one, which whoever comes first carries out.
 */
export class AuditFile {
  /** What opening the log had to mend. */
  readonly recovery: AuditRecovery;
  readonly #options: AuditFileOptions;
  readonly #rows: AuditRows;
  readonly #file: CurrentFile;
  #opening: AuditOpening = { behind: null, lost: null, lines: null };
  /** As of the last commit. */
  #head: AuditHead;
  /** With what was appended since. */
  #next: AuditHead;
  /** The bytes of what was appended since. */
  #appended: Uint8Array | null = null;
  /** When a checkpoint was asked for that is not written yet. */
  #checkpointAt: string | null = null;

  private constructor(head: AuditHead, rows: AuditRows, options: AuditFileOptions) {
    const { path, chain, database } = options;
    this.#options = options;
    this.#rows = rows;
    const store = database.location() ?? 'in memory';
    this.#file = new CurrentFile({ path, rows, chain, store, now: () => this.#now() });
    this.#head = head;
    this.#next = head;
    try {
      this.recovery = this.#recover(true);
      checkLastLine(path, this.#head);
    } catch (error) {
      this.#file.abandon();
      throw error;
    }
  }

  /**
   * Opens the log and mends its tail. Throws StoreBehindError when it has lines that the store does not know and
   * that are not to be kept, and StoreError when lines are missing or it does not verify.
   */
  static async open(options: AuditFileOptions): Promise<AuditFile> {
    const { path, chain, database } = options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const rows = new AuditRows(database);
    const known = rows.read();
    const imported = known === null ? await importLog(path, chain) : null;
    // Under the lock, since another process may be in the middle of a commit.
    const transaction = beginTransaction(database);
    let file: AuditFile | null = null;
    let isImported = false;
    try {
      isImported = imported !== null && rows.importHead(imported.head);
      const ahead = await keepAhead(rows, options);
      file = new AuditFile(rows.read() as AuditHead, rows, options);
      const lost = isImported ? imported : null;
      const { events, ...found } = settle(lost?.lostWaits ?? null, ahead, file.#now());
      const { entity = {} } = options;
      file.append(events.map((event) => ({ ...entity, ...event })));
      transaction.commit();
      file.#opening = { ...found, lines: file.committed() };
      file.#file.committed(file.#head);
    } catch (error) {
      if (file !== null) file.#file.abandon();
      transaction.abandon();
      throw error;
    }
    pruneFiles(path, file.#head.keptFrom);
    // A store that loses its latest commits is then known to be an older one, and not taken for a new one.
    if (isImported) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return file;
  }

  /** The findings of opening the log, beside what had to be mended. */
  get opening(): AuditOpening {
    return this.#opening;
  }

  /** Lines in the log. */
  get events(): number {
    return this.#head.events;
  }

  /**
   * Recovers the log to the last commit; called first in every transaction of the store. Throws StoreError when lines
   * were removed meanwhile.
   */
  begin(): void {
    this.#recover(false);
  }

  /**
   * Appends events inside the open transaction of the store. Throws when the file cannot take
   * them; call `rollBack` then, and also when the transaction fails later.
   */
  append(events: readonly AuditEvent[]): void {
    const isCheckpointDue =
      this.#checkpointAt !== null && this.#head.events > this.#head.checkpointed;
    if (events.length === 0 && !isCheckpointDue) return;
    const lines = this.#nextLines();
    if (this.#head.bytes === 0) this.#openFile(lines);
    if (lines.head.opened === '') lines.head.opened = this.#day();
    lines.add(events);
    if (this.#checkpointAt !== null && lines.head.events > lines.head.checkpointed) {
      lines.checkpoint(this.#checkpointAt);
    }
    this.#write(lines);
  }

  /** Returns whether the current file has reached its size or its day is over. */
  isRotationDue(): boolean {
    const { maxBytes = 0, daily = false } = this.#options.rotation ?? {};
    const { bytes, opened } = this.#head;
    if (bytes === 0) return false;
    return (maxBytes > 0 && bytes >= maxBytes) || (daily && opened !== '' && opened < this.#day());
  }

  /**
   * Ends the current file inside the open transaction of the store; `begin` of the next one archives it. Throws
   * StoreError when another file has the name it is to get.
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
    lines.endFile(this.#time(), finished);
    this.#write(lines);
    const { bytes, events } = this.#next;
    this.#next = { ...this.#next, bytes: 0, first: events + 1, opened: '' };
    this.#next.finishing = { first, bytes };
    this.#rows.advance(this.#next);
  }

  /** Throws when neither file nor database take a write; what it writes is rolled back. */
  probe(): void {
    this.#file.probe(this.#head);
    this.#rows.advance(this.#head);
  }

  /** Marks what was appended as committed; returns its bytes. */
  committed(): Uint8Array | null {
    const appended = this.#appended;
    const { keptFrom } = this.#head;
    this.#head = this.#next;
    if (appended !== null) this.#file.committed(this.#head);
    this.#appended = null;
    this.#checkpointAt = null;
    if (keptFrom !== this.#head.keptFrom) pruneFiles(this.#options.path, this.#head.keptFrom);
    return appended;
  }

  /** Asks the next transaction for a checkpoint, unless nothing was written since the last one. */
  requestCheckpoint(ts: string): void {
    this.#checkpointAt = ts;
  }

  /** Rolls back what was appended; called while the transaction still holds the lock. */
  rollBack(): void {
    this.#next = this.#head;
    this.#appended = null;
    this.#file.cutBack(this.#head);
  }

  /** Syncs the lines to disk, then releases them from the outbox. Rejects when the disk refuses. */
  sync(): Promise<void> {
    return this.#file.sync(this.#head);
  }

  /** Syncs and closes the file. */
  close(): void {
    this.#file.close(this.#head);
  }

  /** @param isOpening compares what the outbox has with the file, also where the length is right */
  #recover(isOpening: boolean): AuditRecovery {
    const before = this.#head;
    // Another process may have written since; its commit moved the head.
    this.#head = this.#rows.read() ?? this.#head;
    // What this process could not commit is its own to roll back as long as nobody else came.
    if (this.#head.events === before.events) this.#file.cutBack(this.#head);
    this.#next = this.#head;
    this.#appended = null;
    return this.#head.finishing === null
      ? this.#file.recover(this.#head, isOpening)
      : this.#replace(isOpening);
  }

  /** Archives the finished file, after which all its lines are on disk. */
  #replace(isOpening: boolean): AuditRecovery {
    const mended = this.#file.replace(this.#head, isOpening);
    this.#rows.releaseAll();
    this.#head = { ...this.#head, finishing: null };
    this.#next = this.#head;
    this.#rows.advance(this.#head);
    return mended;
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

  #write(lines: NextLines): void {
    const { first, bytes: offset } = this.#head;
    const bytes = lines.take();
    const synced = this.#file.write(this.#head, lines.head, bytes);
    this.#rows.keep(offset, bytes);
    this.#rows.advance(lines.head);
    this.#rows.releaseLines(first, synced);
    this.#next = lines.head;
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
