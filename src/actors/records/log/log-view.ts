import type { TimeRange } from '../../../machines/time-range.ts';
import { positionsOf } from '../store/range-of-time.ts';
import type { Standing } from './chain-format.ts';
import { maximumLineBytes } from './chain-format.ts';
import { LineSplitter } from './line-splitter.ts';
import { type FileIndex, type LogIndexes, type OpenLogFile, spacing } from './log-index.ts';
import { standingBefore } from './pruned-at.ts';
import { timeOf } from './time-in-file.ts';
import { takesLine, type WantedLine } from './wanted-line.ts';

/** A line without its newline, with its number in the log, from 1. */
export interface NumberedLine {
  number: number;
  bytes: Uint8Array;
}

/** A range of lines, both ends inclusive. */
export interface LineRange {
  from: number;
  to: number;
}

interface Part {
  file: OpenLogFile;
  index: FileIndex;
  /** Number of the part's first line in the log. */
  first: number;
}

/** Maximum bytes of the returned lines; larger than the longest line. */
const mostBytes = 8 * 1024 * 1024;

/** Maximum bytes read by one search. */
const mostSearched = 256 * 1024 * 1024;
const chunkBytes = 256 * 1024;
/** Larger counts are implausible, and lose precision. */
const mostLines = 1e12;

/** Random access by number to the lines of a log across all its files. */
export class LogView {
  readonly #parts: readonly Part[];
  /** Position at which old files were pruned, from the first line; `null` if none were pruned. */
  readonly pruned: Standing | null;
  /** Number of the first remaining line, from 1. */
  readonly first: number;
  /** Number of the last line; `first - 1` for an empty log. */
  readonly last: number;

  private constructor(parts: readonly Part[], pruned: Standing | null) {
    this.#parts = parts;
    this.pruned = pruned;
    this.first = parts[0]?.first ?? 1;
    const end = parts.at(-1);
    this.last = end === undefined ? 0 : end.first + end.index.lines - 1;
  }

  /** Creates a view of a log's open files, oldest first. Rejects with a LongLineError. */
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

  /** Reads up to `limit` lines before line `before`, oldest first; fewer if they are long. */
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
   * Searches backwards from line `before`. Resolves with about `limit` matching lines at most, oldest first, and the
   * lowest line number that was searched; a long log takes several calls. Lines that cannot lie in the wanted range of
   * time count as searched.
   */
  async search(
    { before, limit, wanted }: { before: number; limit: number; wanted: WantedLine },
    signal: AbortSignal,
  ): Promise<{ lines: NumberedLine[]; from: number }> {
    let lines: NumberedLine[] = [];
    const span = await this.#numbersOf(wanted, signal);
    let from = Math.min(span.to, before);
    let searched = 0;
    let size = 0;
    while (from > span.from && lines.length < limit && searched < mostSearched) {
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
    return { lines, from: from > span.from ? from : this.first };
  }

  /** Returns the lines that can lie in a range of time. */
  async rangeOf(range: TimeRange, signal: AbortSignal): Promise<LineRange> {
    const { from, to } = await this.#numbersOf(range, signal);
    return { from, to: to - 1 };
  }

  /** Finds the lines that can lie in a range of time: the number of the first, and of the one after the last. */
  async #numbersOf(range: TimeRange, signal: AbortSignal): Promise<{ from: number; to: number }> {
    const bounds = { first: this.first, end: this.last + 1 };
    return positionsOf(range, bounds, async (from) => {
      for await (const { number, bytes } of this.lines({ from, to: this.last }, signal)) {
        const at = timeOf(bytes);
        if (at !== null) return { position: number, at };
      }
      return null;
    });
  }

  /** Yields lines in order; the bytes of each are valid until the next. */
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

  /** Yields the raw bytes of lines, including newlines. */
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

  /** Returns the total number of bytes that `chunks` yields. */
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

  /** Returns the lines from the last mark before a line up to that line; at least one line must precede it. */
  #blockBefore(number: number): LineRange {
    const { first } = this.#parts.findLast((part) => part.first < number) as Part;
    const to = number - 1;
    return { from: to - ((to - first) % spacing), to };
  }
}

function becameShorter({ path }: OpenLogFile): Error {
  return new Error(`${path} has become shorter while it was read`);
}

/** Copies the bytes, since `slice` of a Buffer would retain the whole read buffer. */
function copyOf({ number, bytes }: NumberedLine): NumberedLine {
  return { number, bytes: new Uint8Array(bytes) };
}

/**
 * Returns the offset of a line by its number in the file (from 0); for the line after the last, the end of the file.
 */
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
