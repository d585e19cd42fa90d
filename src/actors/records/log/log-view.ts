import type { Standing } from './chain-format.ts';
import { maximumLineBytes } from './chain-format.ts';
import { LineSplitter } from './line-splitter.ts';
import { type FileIndex, type LogIndexes, type OpenLogFile, spacing } from './log-index.ts';
import { standingBefore } from './pruned-at.ts';
import { takesLine, type WantedLine } from './wanted-line.ts';

/** A line with its number in the log, from 1, without its newline. */
export interface NumberedLine {
  number: number;
  bytes: Uint8Array;
}

/** Lines of a log from the one to the other, both among them. */
export interface LineRange {
  from: number;
  to: number;
}

interface Part {
  file: OpenLogFile;
  index: FileIndex;
  /** Number of its first line in the log. */
  first: number;
}

/** Bytes of the lines that are given at once; more than the longest line has. */
const mostBytes = 8 * 1024 * 1024;

/** Bytes that one search looks through. */
const mostSearched = 256 * 1024 * 1024;
const chunkBytes = 256 * 1024;
/** Larger counts are nobody's log, and lose their last digit. */
const mostLines = 1e12;

/** The lines of a log over all its files, found by their numbers without reading those before them. */
export class LogView {
  readonly #parts: readonly Part[];
  /** Where it was cut when its oldest files were removed, as its first line has it. */
  readonly pruned: Standing | null;
  /** Number of the first line that is left, from 1. */
  readonly first: number;
  /** Number of the last line; one less than `first` in an empty log. */
  readonly last: number;

  private constructor(parts: readonly Part[], pruned: Standing | null) {
    this.#parts = parts;
    this.pruned = pruned;
    this.first = parts[0]?.first ?? 1;
    const end = parts.at(-1);
    this.last = end === undefined ? 0 : end.first + end.index.lines - 1;
  }

  /** Looks at the open files of a log, oldest first. Rejects with a LongLineError. */
  static async of(
    files: readonly OpenLogFile[],
    indexes: LogIndexes,
    signal: AbortSignal,
  ): Promise<LogView> {
    const pruned = await prunedIn(files[0], signal);
    const parts: Part[] = [];
    let first = 1 + (pruned?.count ?? 0);
    for (const file of files) {
      const index = await indexes.of(file, signal);
      parts.push({ file, index, first });
      first += index.lines;
    }
    return new LogView(parts, pruned);
  }

  /** Reads up to `limit` lines before line `before`, oldest first: fewer where these are long. */
  async before(before: number, limit: number, signal: AbortSignal): Promise<NumberedLine[]> {
    const to = Math.min(this.last, before - 1);
    const found: NumberedLine[] = [];
    let size = 0;
    for await (const line of this.lines({ from: to - limit + 1, to }, signal)) {
      found.push(copyOf(line));
      size += line.bytes.length;
      while (size > mostBytes) size -= (found.shift() as NumberedLine).bytes.length;
    }
    return found;
  }

  /**
   * Looks for lines from line `before` backwards. Answers up to about `limit` of them, oldest first, and the number of the
   * lowest line that was looked at: a long log takes several calls.
   */
  async search(
    { before, limit, wanted }: { before: number; limit: number; wanted: WantedLine },
    signal: AbortSignal,
  ): Promise<{ lines: NumberedLine[]; from: number }> {
    let lines: NumberedLine[] = [];
    let from = Math.min(this.last + 1, before);
    let searched = 0;
    let size = 0;
    while (from > this.first && lines.length < limit && searched < mostSearched) {
      const block = this.#blockBefore(from);
      const found: NumberedLine[] = [];
      for await (const line of this.lines(block, signal)) {
        searched += line.bytes.length + 1;
        if (!takesLine(wanted, line.bytes)) continue;
        found.push(copyOf(line));
        size += line.bytes.length;
      }
      lines = [...found, ...lines];
      from = block.from;
      if (size > mostBytes) break;
    }
    return { lines, from };
  }

  /** Yields lines in their order; the bytes of each are valid until the next. */
  async *lines(range: LineRange, signal: AbortSignal): AsyncGenerator<NumberedLine> {
    const splitter = new LineSplitter(maximumLineBytes);
    const last = Math.min(this.last, range.to);
    let number = Math.max(this.first, range.from);
    for await (const chunk of this.chunks({ from: number, to: last }, signal)) {
      for (const bytes of splitter.push(chunk)) {
        yield { number, bytes };
        number += 1;
      }
    }
    if (number > last) return;
    for (const bytes of splitter.push(Uint8Array.of(0x0a))) yield { number, bytes };
  }

  /** Yields the bytes of lines as they are kept, newlines among them. */
  async *chunks(range: LineRange, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for (const { file, start, end } of await this.#spans(range, signal)) {
      for (let position = start; position < end; ) {
        signal.throwIfAborted();
        const length = Math.min(chunkBytes, end - position);
        const { bytesRead, buffer } = await file.handle.read(
          Buffer.allocUnsafe(length),
          0,
          length,
          position,
        );
        if (bytesRead === 0) throw becameShorter(file);
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    }
  }

  /** Counts the bytes that `chunks` yields. */
  async bytesOf(range: LineRange, signal: AbortSignal): Promise<number> {
    const spans = await this.#spans(range, signal);
    return spans.reduce((sum, { start, end }) => sum + end - start, 0);
  }

  async #spans({ from, to }: LineRange, signal: AbortSignal) {
    const spans: { file: OpenLogFile; start: number; end: number }[] = [];
    for (const part of this.#parts) {
      const { file, index, first } = part;
      const begin = Math.max(0, from - first);
      const end = Math.min(index.lines, to - first + 1);
      if (begin >= end) continue;
      const start = await offsetOf(part, begin, signal);
      spans.push({ file, start, end: await offsetOf(part, end, signal) });
    }
    return spans;
  }

  /** The lines from the last mark before a line up to it; there is one before it. */
  #blockBefore(number: number): LineRange {
    const { first } = this.#parts.findLast((part) => part.first < number) as Part;
    const to = number - 1;
    return { from: to - ((to - first) % spacing), to };
  }
}

function becameShorter({ path }: OpenLogFile): Error {
  return new Error(`${path} has become shorter while it was read`);
}

/** A copy, which `slice` of a Buffer is not: that would hold on to all that was read with the line. */
function copyOf({ number, bytes }: NumberedLine): NumberedLine {
  return { number, bytes: new Uint8Array(bytes) };
}

/** Returns where a line of a file begins, by its number in it from 0; the end of the file for the one after its last. */
async function offsetOf({ file, index }: Part, line: number, signal: AbortSignal): Promise<number> {
  if (line >= index.lines) return index.size;
  const mark = Math.floor(line / spacing);
  let position = index.marks[mark] ?? 0;
  let left = line - mark * spacing;
  const block = Buffer.allocUnsafe(64 * 1024);
  while (left > 0) {
    signal.throwIfAborted();
    const { bytesRead } = await file.handle.read(block, 0, block.length, position);
    if (bytesRead === 0) throw becameShorter(file);
    const read = block.subarray(0, bytesRead);
    let at = -1;
    while (left > 0) {
      const next = read.indexOf(0x0a, at + 1);
      if (next === -1) break;
      at = next;
      left -= 1;
    }
    position += left === 0 ? at + 1 : bytesRead;
  }
  return position;
}

async function prunedIn(
  file: OpenLogFile | undefined,
  signal: AbortSignal,
): Promise<Standing | null> {
  if (file === undefined) return null;
  const splitter = new LineSplitter(maximumLineBytes);
  for (let position = 0; position < Math.min(file.size, maximumLineBytes); ) {
    signal.throwIfAborted();
    const block = Buffer.allocUnsafe(64 * 1024);
    const { bytesRead } = await file.handle.read(block, 0, block.length, position);
    if (bytesRead === 0) return null;
    position += bytesRead;
    for (const line of splitter.push(block.subarray(0, bytesRead))) {
      const pruned = standingBefore(line);
      const { count = 0 } = pruned ?? {};
      return Number.isSafeInteger(count) && count >= 0 && count < mostLines ? pruned : null;
    }
  }
  return null;
}
