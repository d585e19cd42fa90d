import type { FileHandle } from 'node:fs/promises';
import { maximumLineBytes } from './chain-format.ts';

const newline = 0x0a;
const blockSize = 64 * 1024;

/** A complete line found from the end of a file. */
export interface FoundLine {
  bytes: Uint8Array;
  /** Offset of the byte after its newline. */
  end: number;
}

/**
 * Yields the lines of a file from last to first, read in blocks, so that memory is constant. Text after the last
 * newline is not a line yet; lines above 4 MiB are skipped.
 */
export async function* linesFromEnd(handle: FileHandle, size: number): AsyncGenerator<FoundLine> {
  let pieces: Uint8Array[] = [];
  let held = 0;
  let end = -1;
  for (let start = size; start > 0; ) {
    const length = Math.min(blockSize, start);
    start -= length;
    let block: Uint8Array = await readBlock(handle, start, length);
    for (let at = lastNewline(block); at !== -1; at = lastNewline(block)) {
      const line = [block.subarray(at + 1), ...pieces];
      const fits = held + block.length - at - 1 <= maximumLineBytes;
      if (end !== -1 && fits) yield { bytes: Buffer.concat(line), end };
      end = start + at + 1;
      pieces = [];
      held = 0;
      block = block.subarray(0, at);
    }
    held += block.length;
    pieces = held > maximumLineBytes ? [] : [block, ...pieces];
  }
  if (end !== -1 && held <= maximumLineBytes) yield { bytes: Buffer.concat(pieces), end };
}

async function readBlock(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

function lastNewline(block: Uint8Array): number {
  return block.lastIndexOf(newline);
}
