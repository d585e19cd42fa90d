import type { FileHandle } from 'node:fs/promises';
import type { TimeRange } from '../../../machines/time-range.ts';
import { positionsOf, type TimedEntry } from '../store/range-of-time.ts';
import { maximumLineBytes } from './chain-format.ts';
import { LineSplitter } from './line-splitter.ts';
import { recordedEvent } from './recorded-event.ts';

/** Bytes of one read; most lines fit in it. */
const blockSize = 8 * 1024;
const newline = 0x0a;

/**
 * Finds the part of a log file whose lines can lie in a range of time, by binary search. `from` and `to` are offsets in
 * bytes: of its first line, and of the line after its last.
 */
export function spanOf(
  handle: FileHandle,
  size: number,
  range: TimeRange,
): Promise<{ from: number; to: number }> {
  return positionsOf(range, { first: 0, end: size }, (offset) => firstTimed(handle, offset, size));
}

/** Returns the first complete line that begins at an offset or later and has a time, with its offset. */
async function firstTimed(
  handle: FileHandle,
  offset: number,
  size: number,
): Promise<TimedEntry | null> {
  const splitter = new LineSplitter(maximumLineBytes);
  // A line begins after a newline, which may be the byte before the offset.
  let start = Math.max(0, offset - 1);
  let isWhole = offset === 0;
  for (let position = start; position < size; ) {
    const block = Buffer.allocUnsafe(blockSize);
    const { bytesRead } = await handle.read(
      block,
      0,
      Math.min(blockSize, size - position),
      position,
    );
    if (bytesRead === 0) return null;
    let end = -1;
    for (const line of splitter.push(block.subarray(0, bytesRead))) {
      const at = isWhole ? timeOf(line) : null;
      if (at !== null) return { position: start, at };
      end = block.indexOf(newline, end + 1);
      start = position + end + 1;
      isWhole = true;
    }
    position += bytesRead;
  }
  return null;
}

/** Returns the time of a line in epoch milliseconds; `null` if it has none. */
export function timeOf(line: Uint8Array): number | null {
  const at = Date.parse(recordedEvent(line)?.ts ?? '');
  return Number.isNaN(at) ? null : at;
}
