import { type FileHandle, stat } from 'node:fs/promises';
import { codeOf } from '../../../machines/error-code.ts';
import type { TimeRange } from '../../../machines/time-range.ts';
import { openRegularFile } from '../../open-regular-file.ts';
import { maximumLineBytes } from './chain-format.ts';
import { LineSplitter } from './line-splitter.ts';
import { spanOf } from './time-in-file.ts';
import { AuditLogError } from './verify-files.ts';

const blockSize = 64 * 1024;

/** Reads a log file from a position; its creator closes the handle. */
export class LogFileReader {
  readonly path: string;
  readonly handle: FileHandle;
  readonly inode: bigint;
  position = 0;
  #end = Infinity;
  #splitter = new LineSplitter(maximumLineBytes);

  private constructor(path: string, handle: FileHandle, inode: bigint) {
    this.path = path;
    this.handle = handle;
    this.inode = inode;
  }

  /** Opens a file; `null` if it does not exist. Throws AuditLogError if it cannot be read. */
  static async find(path: string): Promise<LogFileReader | null> {
    try {
      const handle = await openRegularFile(path);
      const { ino } = await handle.stat({ bigint: true });
      return new LogFileReader(path, handle, ino);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw new AuditLogError(path, error);
    }
  }

  /** Opens a file. Throws AuditLogError if it is missing or cannot be read. */
  static async open(path: string): Promise<LogFileReader> {
    const log = await LogFileReader.find(path);
    if (log !== null) return log;
    throw new AuditLogError(
      path,
      Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' }),
    );
  }

  /** Rewinds to the first line. */
  rewind(): void {
    this.position = 0;
    this.#splitter = new LineSplitter(maximumLineBytes);
  }

  /** Restricts the following reads to the lines that can lie in a range of time. */
  async restrict(range: TimeRange): Promise<void> {
    const { size } = await this.handle.stat();
    const { from, to } = await spanOf(this.handle, size, range);
    this.position = from;
    // Without an end the file is also read as it grows.
    if (range.to !== undefined) this.#end = to;
  }

  /** Yields the lines completed since the last call, without their newlines; each is valid until the next. */
  async *lines(): AsyncGenerator<Uint8Array> {
    const block = Buffer.alloc(blockSize);
    for (;;) {
      const length = Math.min(blockSize, this.#end - this.position);
      if (length <= 0) return;
      const { bytesRead } = await this.handle.read(block, 0, length, this.position);
      if (bytesRead === 0) return;
      this.position += bytesRead;
      yield* this.#splitter.push(block.subarray(0, bytesRead));
    }
  }
}

/** Returns the inode and size in bytes of the file at a path; `null` if there is none. Throws AuditLogError. */
export async function fileAt(path: string): Promise<{ inode: bigint; size: number } | null> {
  try {
    const { ino, size } = await stat(path, { bigint: true });
    return { inode: ino, size: Number(size) };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new AuditLogError(path, error);
  }
}
