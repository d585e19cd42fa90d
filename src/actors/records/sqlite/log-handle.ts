import {
  closeSync,
  constants,
  fchmodSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
} from 'node:fs';

/** The current file of a log as this process has it open; what is known of it goes with it. */
export class LogHandle {
  readonly descriptor: number;
  /** The number of the first line of the file. */
  readonly first: number;
  /** The length up to which the file is known to be on disk. */
  synced = 0;
  #syncs = 0;
  #isRetired = false;

  /** Opens the file, and makes it when there is none. */
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

  /** Puts the file on disk, of which `bytes` are written. Rejects when the disk refuses. */
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

  /** The same, before it returns. Throws when the disk refuses. */
  syncNow(bytes: number): void {
    fdatasyncSync(this.descriptor);
    this.synced = bytes;
  }

  /** Closes the file, once no sync is under way: its number might be given to another file. */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#closeWhenRetired();
  }

  #closeWhenRetired(): void {
    if (this.#isRetired && this.#syncs === 0) closeSync(this.descriptor);
  }
}
