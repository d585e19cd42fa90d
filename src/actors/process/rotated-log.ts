import { closeSync, fstatSync, statSync, writeSync } from 'node:fs';
import { longestLog, openLogFile, shiftLogs } from './log-file.ts';

/**
 * Appends lines to a log file and starts a new one at its maximum size. A full file is renamed and never written again,
 * so a program that follows the file by its inode reads each line once. A line that the disk refuses is dropped, and
 * the next one that it accepts follows a count of the dropped ones.
 */
export class RotatedLog {
  readonly #path: string;
  readonly #maxBytes: number;
  #file: number;
  #bytes: number;
  #dropped = 0;
  /** True after a line of which only the start was written. */
  #isTorn = false;

  constructor(path: string, maxBytes = longestLog) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#file = openLogFile(path);
    this.#bytes = fstatSync(this.#file).size;
  }

  write(text: string): void {
    if (this.#bytes >= this.#maxBytes) this.#rotate();
    if (!this.#append(this.#notice() + text)) this.#dropped += 1;
    else this.#dropped = 0;
  }

  /** Counts the lines that were dropped before this one. */
  #notice(): string {
    const end = this.#isTorn ? '\n' : '';
    if (this.#dropped === 0) return end;
    const msg = 'log: lines were dropped, because the disk accepted none';
    const record = { level: 'warn', time: new Date().toISOString(), dropped: this.#dropped, msg };
    return `${end}${JSON.stringify(record)}\n`;
  }

  #append(text: string): boolean {
    const bytes = Buffer.from(text);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#file, bytes, written);
    } catch {
      const { size } = fstatSync(this.#file);
      this.#isTorn ||= size > this.#bytes;
      this.#bytes = size;
      return false;
    }
    this.#bytes += written;
    this.#isTorn = false;
    return true;
  }

  /** A disk that accepts no new file leaves the full one in use; the next line tries again. */
  #rotate(): void {
    try {
      // Another program may have renamed the file.
      if (inodeOf(this.#path) === fstatSync(this.#file).ino) shiftLogs(this.#path);
      const file = openLogFile(this.#path);
      closeSync(this.#file);
      this.#file = file;
      this.#bytes = fstatSync(file).size;
    } catch {
      this.#bytes = this.#maxBytes;
    }
  }
}

function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}
