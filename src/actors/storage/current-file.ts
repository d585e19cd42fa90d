import { ftruncateSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AuditHead, AuditRows } from './audit-head.ts';
import { LogHandle } from './log-handle.ts';
import {
  type AuditRecovery,
  type KnownFile,
  mendTail,
  rewriteTail,
  writeWhole,
} from './mend-tail.ts';
import { putAway, syncFolder } from './put-away.ts';

/** What a disk has to have room for before it counts as writable again. */
const probeBytes = Buffer.alloc(64 * 1024);

const nothingMended: AuditRecovery = { dropped: 0, replayed: 0 };

/** The file that a log is written to now, brought to where the store says it stands. */
export class CurrentFile {
  readonly #path: string;
  readonly #rows: AuditRows;
  /** `null` until it is first needed. */
  #handle: LogHandle | null = null;
  /** A sync has failed, so nobody knows what of the outbox is on disk. */
  #isSuspect = false;

  constructor(path: string, rows: AuditRows) {
    this.#path = path;
    this.#rows = rows;
  }

  /**
   * Makes the file what the store says; to be called under its lock. Throws StoreError when lines
   * are missing that nothing can replace.
   *
   * @param isThorough compares what the outbox has with the file, also where the length is right
   */
  takeUp({ first, bytes }: AuditHead, isThorough: boolean): AuditRecovery {
    if (this.#isSuspect) this.#rewrite(first, bytes);
    const handle = this.#open(first);
    if (!isThorough && handle.size === bytes) return nothingMended;
    return mendTail(this.#known(handle, bytes));
  }

  /** Carries out what the store says about the file before the current one, and begins the current one. */
  replace(finishing: NonNullable<AuditHead['finishing']>, first: number): AuditRecovery {
    let mended = nothingMended;
    putAway(this.#path, finishing, () => {
      if (this.#isSuspect) return this.#rewrite(finishing.first, finishing.bytes);
      const handle = this.#reopened(finishing.first);
      mended = mendTail(this.#known(handle, finishing.bytes));
      this.#syncNow(handle, finishing.bytes);
    });
    const handle = this.#reopened(first);
    if (handle.size > 0) ftruncateSync(handle.descriptor, 0);
    syncFolder(dirname(this.#path));
    return mended;
  }

  /** Appends lines; returns the length up to which the file is known to be on disk. */
  write(first: number, lines: Uint8Array): number {
    const handle = this.#open(first);
    writeWhole(handle.descriptor, lines);
    return handle.synced;
  }

  /** Throws when the file cannot grow; what it writes is taken back. */
  probe({ first, bytes }: AuditHead): void {
    const { descriptor } = this.#open(first);
    writeWhole(descriptor, probeBytes);
    ftruncateSync(descriptor, bytes);
  }

  /** Takes back what was written after the head. */
  cutBack({ first, bytes }: AuditHead): void {
    // A file that is not put away yet has lines that are not this transaction's.
    if (this.#handle === null || this.#handle.first !== first) return;
    if (this.#handle.size > bytes) ftruncateSync(this.#handle.descriptor, bytes);
  }

  /** Puts the file on disk. Rejects when the disk refuses, and believes no later sync then. */
  async sync({ first, bytes }: AuditHead): Promise<void> {
    if (this.#handle?.first !== first) return;
    try {
      await this.#handle.sync(bytes);
    } catch (error) {
      this.#isSuspect = true;
      throw error;
    }
  }

  /** Syncs and closes the file. Throws when the disk refuses; the outbox has the lines then. */
  close({ first, bytes }: AuditHead): void {
    const handle = this.#handle;
    if (handle === null) return;
    try {
      if (handle.first !== first || this.#isSuspect) return;
      handle.syncNow(bytes);
      this.#rows.letGo(first, bytes);
    } finally {
      handle.retire();
    }
  }

  /** Closes the file as it is. */
  abandon(): void {
    this.#handle?.retire();
  }

  /** Writes again what a failed sync may have lost, on a descriptor that knows nothing of the failure. */
  #rewrite(first: number, bytes: number): void {
    const handle = this.#reopened(first);
    rewriteTail(this.#known(handle, bytes));
    this.#syncNow(handle, bytes);
  }

  #syncNow(handle: LogHandle, bytes: number): void {
    this.#isSuspect = true;
    handle.syncNow(bytes);
    this.#isSuspect = false;
  }

  #known({ descriptor }: LogHandle, bytes: number): KnownFile {
    return { descriptor, path: this.#path, bytes, outbox: this.#rows.outbox() };
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
