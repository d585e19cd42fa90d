import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Clock } from '../ports.ts';
import { maximumLineBytes } from './chain-format.ts';
import { linesFromEnd } from './last-lines.ts';
import { LineSplitter } from './line-splitter.ts';
import { type RecordedEvent, recordedEvent } from './recorded-event.ts';
import { AuditLogError } from './verify-files.ts';

/** Which events to show. */
export interface TailOptions {
  path: string;
  /** Only events of this task. */
  task?: string;
  /** Only events of this name. */
  event?: string;
  /** How many of the latest events to begin with. */
  limit: number;
  /** Go on with new events until the signal aborts; waits for the file when there is none yet. */
  follow?: boolean;
  signal?: AbortSignal;
  clock: Clock;
}

const pollInterval = 200;
const blockSize = 64 * 1024;

/**
 * Yields the latest matching events of a log, oldest first, then new ones as they are written; lines that hold no
 * event are passed over, since judging them is the work of the verification. A log that is rotated away is read to
 * its end before the new one; one that is cut is read again from its start.
 *
 * @throws AuditLogError when the log cannot be read, or is not there and is not followed
 */
export async function* tailLines(options: TailOptions): AsyncGenerator<RecordedEvent> {
  let log = await openLog(options.path, options.follow === true);
  try {
    if (log !== null) yield* latest(log, options);
    while (options.follow === true && options.signal?.aborted !== true) {
      if (log !== null) yield* log.unread(options);
      await pause(options);
      const there = await identity(options.path);
      if (there === null) continue;
      if (log === null || there.inode !== log.inode) {
        if (log !== null) yield* log.unread(options);
        const next = await openLog(options.path, true);
        await log?.handle.close();
        log = next;
      } else if (there.size < log.position) {
        log.rewind();
      }
    }
  } finally {
    await log?.handle.close();
  }
}

class OpenLog {
  readonly handle: FileHandle;
  readonly inode: bigint;
  position = 0;
  #splitter = new LineSplitter(maximumLineBytes);

  constructor(handle: FileHandle, inode: bigint) {
    this.handle = handle;
    this.inode = inode;
  }

  rewind(): void {
    this.position = 0;
    this.#splitter = new LineSplitter(maximumLineBytes);
  }

  /** The matching events between the position and the end of the file. */
  async *unread(options: TailOptions): AsyncGenerator<RecordedEvent> {
    const block = Buffer.alloc(blockSize);
    for (;;) {
      const { bytesRead } = await this.handle.read(block, 0, blockSize, this.position);
      if (bytesRead === 0) return;
      this.position += bytesRead;
      for (const line of this.#splitter.push(block.subarray(0, bytesRead))) {
        const event = matching(line, options);
        if (event !== null) yield event;
      }
    }
  }
}

async function* latest(log: OpenLog, options: TailOptions): AsyncGenerator<RecordedEvent> {
  const { size } = await log.handle.stat();
  const found: RecordedEvent[] = [];
  for await (const { bytes, end } of linesFromEnd(log.handle, size)) {
    log.position = Math.max(log.position, end);
    if (found.length >= options.limit) break;
    const event = matching(bytes, options);
    if (event !== null) found.push(event);
  }
  yield* found.reverse();
}

function matching(line: Uint8Array, { task, event }: TailOptions): RecordedEvent | null {
  const read = line.length > maximumLineBytes ? null : recordedEvent(line);
  if (read === null) return null;
  if (task !== undefined && read.task_id !== task) return null;
  return event === undefined || read.event === event ? read : null;
}

async function openLog(path: string, mayBeMissing: boolean): Promise<OpenLog | null> {
  try {
    const handle = await open(path, 'r');
    const { ino } = await handle.stat({ bigint: true });
    return new OpenLog(handle, ino);
  } catch (error) {
    if (mayBeMissing && isMissing(error)) return null;
    throw new AuditLogError(path, error);
  }
}

async function identity(path: string): Promise<{ inode: bigint; size: number } | null> {
  try {
    const { ino, size } = await stat(path, { bigint: true });
    return { inode: ino, size: Number(size) };
  } catch (error) {
    if (isMissing(error)) return null;
    throw new AuditLogError(path, error);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function pause({ clock, signal }: TailOptions): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimeout(done, pollInterval);
    signal?.addEventListener('abort', done);
    if (signal?.aborted === true) done();
  });
}
