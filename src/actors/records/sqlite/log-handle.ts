import {
  closeSync,
  constants,
  fchmodSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
} from 'node:fs';

/** The open file of a log, with its state on disk. */
export class LogHandle {
  readonly descriptor: number;
  /** Number of the file's first line. */
  readonly first: number;
  /** Length up to which the file is confirmed on disk. */
  synced = 0;
  #syncs = 0;
  #isRetired = false;

  /** Opens the file, and creates it if it does not exist. */
  constructor(path: string, first: number) {
    this.descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.first = first;
    try {
      fchmodSync(this.descriptor, 0o600);
    } catch (error) {
      closeSync(this.descriptor);
      throw error;
    }
  }

  /** Length of the file. */
  get size(): number {
    return fstatSync(this.descriptor).size;
  }

  /** Flushes the first `bytes` written to disk. Rejects on a disk error. */
  sync(bytes: number): Promise<void> {
    if (this.synced === bytes) return Promise.resolve();
    this.#syncs += 1;
    return new Promise((resolve, reject) => {
      fdatasync(this.descriptor, (error) => {
        this.#syncs -= 1;
        this.#closeWhenRetired();
        if (error !== null) return reject(error);
        this.synced = Math.max(this.synced, bytes);
        return resolve();
      });
    });
  }

  /** Like `sync`, synchronously. Throws on a disk error. */
  syncNow(bytes: number): void {
    fdatasyncSync(this.descriptor);
    this.synced = bytes;
  }

  /** Closes the file after any running sync, since its descriptor could be reused for another file. */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#closeWhenRetired();
  }

  #closeWhenRetired(): void {
    if (this.#isRetired && this.#syncs === 0) closeSync(this.descriptor);
  }
}
