import { ftruncateSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AuditHead } from '../store/audit-head.ts';
import type { AuditRecovery } from '../store/audit-opening.ts';
import { archiveFile, syncFolder } from './archive-file.ts';
import type { AuditRows } from './audit-head.ts';
import { HeadNote } from './head-note.ts';
import { LogHandle } from './log-handle.ts';
import { type KnownFile, mendTail, rewriteTail } from './mend-tail.ts';
import { StoreBehindError } from './store-behind-error.ts';
import { isAhead } from './vet-tail.ts';
import { writeWhole } from './write-whole.ts';

/** What a disk has to have room for before it counts as writable again. */
const probeBytes = Buffer.alloc(64 * 1024);

const nothingMended: AuditRecovery = { torn: null, replayed: 0 };

export interface CurrentFileOptions {
  path: string;
  rows: AuditRows;
  chain: boolean;
  /** The path of the store. */
  store: string;
  /** Epoch milliseconds. */
  now: () => number;
}

/** The file that a log is written to now, brought to where the store says it stands. */
export class CurrentFile {
  readonly #options: CurrentFileOptions;
  readonly #path: string;
  readonly #rows: AuditRows;
  readonly #note: HeadNote;
  /** `null` until it is first needed. */
  #handle: LogHandle | null = null;
  /** A sync has failed, so nobody knows what of the outbox is on disk. */
  #isSuspect = false;
  /** This process has written lines that are not committed. */
  #isWriting = false;

  constructor(options: CurrentFileOptions) {
    this.#options = options;
    this.#path = options.path;
    this.#rows = options.rows;
    this.#note = new HeadNote(options.path);
  }

  /**
   * Recovers the file to what the store says; called under its lock. Throws StoreError when lines
   * are missing that nothing can replace, and StoreBehindError when it has lines that a commit put there
   * and that the store does not know.
   *
   * @param isOpening compares what the outbox has with the file, also where the length is right; that the
   *   store is not behind is known by then
   */
  recover({ first, bytes, hash }: AuditHead, isOpening: boolean): AuditRecovery {
    this.#isWriting = false;
    if (this.#isSuspect) this.#rewrite(first, bytes, hash);
    const handle = this.#open(first);
    if (!isOpening && handle.size === bytes) return nothingMended;
    const known = this.#known(handle, bytes, hash);
    return mendTail(isOpening ? { ...known, vet: () => undefined } : known);
  }

  /** Carries out what the store says about the file before the current one, and begins the current one. */
  replace({ finishing, first, hash }: AuditHead, isOpening: boolean): AuditRecovery {
    let mended = nothingMended;
    if (finishing !== null) {
      archiveFile(this.#path, finishing, () => {
        if (this.#isSuspect) return this.#rewrite(finishing.first, finishing.bytes, hash);
        const handle = this.#reopened(finishing.first);
        mended = mendTail(this.#known(handle, finishing.bytes, hash));
        this.#syncNow(handle, finishing.bytes);
      });
    }
    const known = this.#known(this.#reopened(first), 0, hash);
    const begun = mendTail({
      ...known,
      outbox: () => [],
      ...(isOpening ? { vet: () => undefined } : {}),
    });
    syncFolder(dirname(this.#path));
    return { torn: begun.torn ?? mended.torn, replayed: mended.replayed };
  }

  /**
   * Appends lines, and notes beforehand that they are not committed yet; returns the length up to which the
   * file is known to be on disk.
   */
  write(head: AuditHead, next: AuditHead, lines: Uint8Array): number {
    const handle = this.#open(head.first);
    this.#note.announce(head, next);
    this.#isWriting = true;
    writeWhole(handle.descriptor, lines);
    return handle.synced;
  }

  /** Marks all lines up to a head as committed. */
  committed(head: AuditHead): void {
    this.#isWriting = false;
    this.#note.tell(head);
  }

  /** Throws when the file cannot grow; what it writes is rolled back. */
  probe({ first, bytes }: AuditHead): void {
    const { descriptor } = this.#open(first);
    this.#isWriting = true;
    writeWhole(descriptor, probeBytes);
    ftruncateSync(descriptor, bytes);
  }

  /** Rolls back what this process wrote after the head. */
  cutBack({ first, bytes }: AuditHead): void {
    if (!this.#isWriting) return;
    this.#isWriting = false;
    // A file that is not archived yet has lines that are not this transaction's.
    if (this.#handle === null || this.#handle.first !== first) return;
    if (this.#handle.size > bytes) ftruncateSync(this.#handle.descriptor, bytes);
  }

  /** Syncs the file. Rejects when the disk refuses, and trusts no later sync then. */
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
    this.#note.close();
    const handle = this.#handle;
    if (handle === null) return;
    try {
      if (handle.first !== first || this.#isSuspect) return;
      handle.syncNow(bytes);
      this.#rows.releaseLines(first, bytes);
    } finally {
      handle.retire();
    }
  }

  /** Closes the file without a sync. */
  abandon(): void {
    this.#note.close();
    this.#handle?.retire();
  }

  /** Writes again what a failed sync may have lost, on a descriptor that knows nothing of the failure. */
  #rewrite(first: number, bytes: number, hash: string): void {
    const handle = this.#reopened(first);
    rewriteTail(this.#known(handle, bytes, hash));
    this.#syncNow(handle, bytes);
  }

  #syncNow(handle: LogHandle, bytes: number): void {
    this.#isSuspect = true;
    handle.syncNow(bytes);
    this.#isSuspect = false;
  }

  #known({ descriptor, first }: LogHandle, bytes: number, hash: string): KnownFile {
    const { path, rows, chain, store, now } = this.#options;
    const vet = (size: number): void => {
      if (!isAhead({ descriptor, first, bytes, hash }, size, this.#note, chain)) return;
      throw new StoreBehindError(store, { events: null, files: [path] });
    };
    return { descriptor, path, bytes, outbox: () => rows.outbox(), vet, now: now() };
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
