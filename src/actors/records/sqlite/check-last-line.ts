import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { GENESIS, maximumLineBytes } from '../log/chain-format.ts';
import { finishedFilesOf } from '../log/log-files.ts';
import { sha256Hex } from '../log/node-crypto.ts';
import type { AuditHead } from '../store/audit-head.ts';
import { StoreError } from '../store/store-error.ts';

const blockSize = 64 * 1024;
const newline = 0x0a;

/** Throws StoreError if the last line of a log differs from the one in the store. `path` is the log's current file. */
export function checkLastLine(path: string, { bytes, hash }: AuditHead): void {
  const last = bytes > 0 ? path : finishedFilesOf(path).at(-1)?.path;
  // Lines from before the chain was enabled have no hash.
  if (last === undefined || hash === '' || hash === GENESIS) return;
  const descriptor = openSync(last, 'r');
  try {
    const end = bytes > 0 ? bytes : fstatSync(descriptor).size;
    if (lastLineHash(descriptor, end) === hash) return;
  } finally {
    closeSync(descriptor);
  }
  throw new StoreError(
    `the last line of ${last} is not the one that the task store knows; restore the log and the store that belong together, or move both away`,
  );
}

/** Returns the hash of the line that ends at an offset of a file; `null` if no line ends there. */
function lastLineHash(descriptor: number, end: number): string | null {
  const pieces: Buffer[] = [];
  let from = end - 1;
  if (readPiece(descriptor, from, 1)[0] !== newline) return null;
  while (from > 0 && end - from <= maximumLineBytes + 1) {
    const start = Math.max(0, from - blockSize);
    const piece = readPiece(descriptor, start, from - start);
    const before = piece.lastIndexOf(newline);
    pieces.unshift(piece.subarray(before + 1));
    if (before !== -1) break;
    from = start;
  }
  return sha256Hex(Buffer.concat(pieces));
}

function readPiece(descriptor: number, start: number, length: number): Buffer {
  const piece = Buffer.alloc(length);
  return piece.subarray(0, readSync(descriptor, piece, 0, length, start));
}
