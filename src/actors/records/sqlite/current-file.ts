import { closeSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AuditHead } from '../store/audit-head.ts';
import type { AuditRecovery } from '../store/audit-opening.ts';
import { archiveFile, syncFolder } from './archive-file.ts';
import type { AuditRows } from './audit-head.ts';
import { LogHandle } from './log-handle.ts';
import { type KnownFile, mendTail } from './mend-tail.ts';
import { writeWhole } from './write-whole.ts';

/** Free bytes that a full disk must have before it counts as writable again. */
const probeBytes = Buffer.alloc(64 * 1024);

const nothingMended: AuditRecovery = { torn: null, replayed: 0 };

export interface CurrentFileOptions {
  path: string;
  rows: AuditRows;
  /** Returns epoch milliseconds. */
  now: () => number;
}

/** The file that a log is written to now. It follows the commits of the store and never precedes them. */
export class CurrentFile {
  readonly #path: string;
  readonly #rows: AuditRows;
  readonly #now: () => number;
  /** `null` until first used. */
  #handle: LogHandle | null = null;
  /** A sync has failed, so any line of the outbox may be missing on disk. */
  #isSuspect = false;

  constructor({ path, rows, now }: CurrentFileOptions) {
    this.#path = path;
    this.#rows = rows;
    this.#now = now;
  }

  /**
   * Archives a finished file and brings the current one to the head: writes missing lines from the outbox and moves
   * foreign bytes aside. Throws StoreError when committed lines are missing that the outbox no longer has.
   *
   * @param isOpening compares the outbox with the file even if its length is right
   */
  settle(head: AuditHead, isOpening: boolean): AuditRecovery {
    const { finishing, first, bytes } = head;
    const archived = finishing === null ? nothingMended : this.#archive(finishing);
    const handle = this.#open(first);
    // A new file needs its name on disk before the outbox releases its lines.
    if (isOpening || finishing !== null) syncFolder(dirname(this.#path));
    if (handle.size === bytes && !isOpening && !this.#isSuspect) return archived;
    const outbox = finishing === null ? () => this.#rows.outbox() : () => [];
    const mended = this.#mend(handle, bytes, outbox);
    return { torn: mended.torn ?? archived.torn, replayed: archived.replayed + mended.replayed };
  }

  /**
   * Appends committed lines. A failure loses nothing: the outbox has the lines, and the next `settle` writes them.
   *
   * @param from the length of the file before the lines
   */
  append(first: number, from: number, lines: Uint8Array): void {
    writeWhole(this.#open(first).descriptor, lines, from);
  }

  /** Returns the length up to which a file is known to be on disk. */
  syncedOf(first: number): number {
    return this.#handle?.first === first ? this.#handle.synced : 0;
  }

  /** Throws when the disk of the log has no room. Writes to a file of its own, so that the log never shrinks. */
  probe(): void {
    const path = `${this.#path}.probe`;
    const descriptor = openSync(path, 'w', 0o600);
    try {
      writeWhole(descriptor, probeBytes);
    } finally {
      closeSync(descriptor);
      rmSync(path, { force: true });
    }
  }

  /** Syncs the file. Rejects when the disk refuses; no later sync is trusted then until the lines are written again. */
  async sync({ first, bytes }: AuditHead): Promise<void> {
    if (this.#handle?.first !== first) return;
    try {
      await this.#handle.sync(bytes);
    } catch (error) {
      this.#isSuspect = true;
      throw error;
    }
  }

  /** Flushes and closes the file. Throws on a disk error; the lines are then still in the outbox. */
  close({ first, bytes }: AuditHead): void {
    const handle = this.#handle;
    if (handle === null) return;
    try {
      if (handle.first !== first || this.#isSuspect || handle.size !== bytes) return;
      handle.syncNow(bytes);
      this.#rows.releaseLines(first, bytes);
    } finally {
      handle.retire();
    }
  }

  /** Closes the file without flushing. */
  abandon(): void {
    this.#handle?.retire();
  }

  #archive(finishing: NonNullable<AuditHead['finishing']>): AuditRecovery {
    let mended = nothingMended;
    archiveFile(this.#path, finishing, () => {
      const handle = this.#open(finishing.first);
      const isSuspect = this.#isSuspect;
      mended = this.#mend(handle, finishing.bytes, () => this.#rows.outbox());
      if (!isSuspect) this.#syncNow(handle, finishing.bytes);
    });
    this.#handle?.retire();
    this.#handle = null;
    return mended;
  }

  #mend(handle: LogHandle, bytes: number, outbox: KnownFile['outbox']): AuditRecovery {
    const { descriptor } = this.#isSuspect ? this.#reopened(handle.first) : handle;
    const isSuspect = this.#isSuspect;
    const file = { descriptor, path: this.#path, bytes, outbox, isSuspect, now: this.#now() };
    const mended = mendTail(file);
    if (isSuspect) this.#syncNow(this.#open(handle.first), bytes);
    return mended;
  }

  #syncNow(handle: LogHandle, bytes: number): void {
    this.#isSuspect = true;
    handle.syncNow(bytes);
    this.#isSuspect = false;
  }

  #open(first: number): LogHandle {
    return this.#handle?.first === first ? this.#handle : this.#reopened(first);
  }

  #reopened(first: number): LogHandle {
    this.#handle?.retire();
    this.#handle = null;
    this.#handle = new LogHandle(this.#path, first);
    return this.#handle;
  }
}
