import type { FileHandle } from 'node:fs/promises';
import { maximumLineBytes } from './chain-format.ts';

/** An open log file with its identity. */
export interface OpenLogFile {
  path: string;
  handle: FileHandle;
  /** Bytes to read, even if the file grows. */
  size: number;
  /** Identifies the file independent of its name, such as its device and inode. */
  id: string;
  /** Changes with the content, such as its size and times. */
  version: string;
}

/** Line positions of a file. */
export interface FileIndex {
  version: string;
  size: number;
  /** Number of lines; the last one may lack its newline. */
  lines: number;
  /** Offset of each line whose number (from 0) is a multiple of `spacing`. */
  marks: readonly number[];
  /** Offset and number (from 0) of the line after the last newline. */
  end: { offset: number; line: number };
}

/** Lines between two marks. */
export const spacing = 1_024;

/** Maximum number of cached indexes. */
const mostKept = 1_024;
const blockBytes = 1024 * 1024;
const newline = 0x0a;

/** A file contains a line longer than a log allows, so the file cannot be searched. */
export class LongLineError extends Error {
  readonly code = 'line_too_long';
  readonly path: string;

  constructor(path: string) {
    super(`${path} has a line that is longer than 4 MiB`);
    this.path = path;
  }
}

/** Locates log lines by number. A file is read completely once, then only its additions. */
export class LogIndexes {
  readonly #kept = new Map<string, FileIndex>();

  /** Returns the index of a file. Rejects with a LongLineError, and with the signal's reason when it aborts. */
  async of(file: OpenLogFile, signal: AbortSignal): Promise<FileIndex> {
    const known = this.#kept.get(file.id) ?? null;
    if (known?.version === file.version) return known;
    const index = await readOn(file, grownFrom(known, file), signal);
    this.#kept.delete(file.id);
    this.#kept.set(file.id, index);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept) this.#kept.delete(oldest as string);
    return index;
  }
}

/** A log only grows; a file of equal or shorter length with a new version was rewritten. */
function grownFrom(known: FileIndex | null, file: OpenLogFile): FileIndex | null {
  return known !== null && known.size < file.size ? known : null;
}

async function readOn(
  { path, handle, size, version }: OpenLogFile,
  known: FileIndex | null,
  signal: AbortSignal,
): Promise<FileIndex> {
  const marks = [...(known?.marks ?? [])];
  let { offset: start, line } = known?.end ?? { offset: 0, line: 0 };
  const block = Buffer.allocUnsafe(Math.min(blockBytes, size - start));
  const mark = (): void => {
    if (marks.length === line / spacing) marks.push(start);
  };
  for (let position = start; position < size; ) {
    signal.throwIfAborted();
    const length = Math.min(block.length, size - position);
    const { bytesRead } = await handle.read(block, 0, length, position);
    if (bytesRead === 0) break;
    const read = block.subarray(0, bytesRead);
    for (let at = read.indexOf(newline); at !== -1; at = read.indexOf(newline, at + 1)) {
      mark();
      start = position + at + 1;
      line += 1;
    }
    position += bytesRead;
    if (position - start > maximumLineBytes + 1) throw new LongLineError(path);
  }
  const end = { offset: start, line };
  if (start < size) mark();
  return { version, size, lines: line + (start < size ? 1 : 0), marks, end };
}
