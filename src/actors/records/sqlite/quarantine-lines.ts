import { closeSync, fsyncSync, openSync, readSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { TornLines } from '../store/audit-opening.ts';
import { syncFolder } from './archive-file.ts';
import { writeWhole } from './write-whole.ts';

const blockSize = 64 * 1024;
const newline = 0x0a;

/**
 * Copies the end of a log file to a new file next to it and flushes the copy before returning, so that no data is lost
 * when the end is cut off. Throws on a disk error.
 */
export function quarantineLines(
  { descriptor, path, now }: { descriptor: number; path: string; now: number },
  from: number,
  to: number,
): TornLines {
  const { copy, name } = newFile(path, now);
  try {
    const block = Buffer.alloc(blockSize);
    let lines = 0;
    let last = newline;
    let bytes = 0;
    while (from + bytes < to) {
      const wanted = Math.min(blockSize, to - from - bytes);
      const read = readSync(descriptor, block, 0, wanted, from + bytes);
      if (read === 0) break;
      const piece = block.subarray(0, read);
      writeWhole(copy, piece);
      for (const byte of piece) if (byte === newline) lines += 1;
      last = piece.at(-1) ?? newline;
      bytes += read;
    }
    fsyncSync(copy);
    syncFolder(dirname(path));
    return { lines: last === newline ? lines : lines + 1, bytes, file: basename(name) };
  } finally {
    closeSync(copy);
  }
}

function newFile(path: string, now: number): { copy: number; name: string } {
  const time = new Date(now).toISOString().replaceAll(/[:.]/g, '-');
  for (let number = 1; ; number += 1) {
    const name = `${path}.torn-${time}${number === 1 ? '' : `-${number}`}`;
    try {
      return { copy: openSync(name, 'wx', 0o600), name };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
