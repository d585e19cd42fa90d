import { readSync } from 'node:fs';
import { maximumLineBytes } from '../audit/chain-format.ts';
import { sha256Hex } from '../audit/node-crypto.ts';

const blockSize = 64 * 1024;
const newline = 0x0a;

/** Returns the hash of the line that ends at an offset of a file; `null` when no line ends there. */
export function lastLineHash(descriptor: number, end: number): string | null {
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
