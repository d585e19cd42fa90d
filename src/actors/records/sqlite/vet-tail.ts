import { readSync } from 'node:fs';
import { maximumLineBytes } from '../log/chain-format.ts';
import { LineSplitter } from '../log/line-splitter.ts';
import type { HeadNote } from './head-note.ts';
import { wholeLine } from './whole-line.ts';

/** The end of a file as the store knows it. */
export interface KnownEnd {
  descriptor: number;
  /** The number of the first line of the file. */
  first: number;
  bytes: number;
  /** Hash of the last line. */
  hash: string;
}

const blockSize = 64 * 1024;

/**
 * Returns whether a file has a line beyond its end that a commit has put there: a whole one that the note
 * beside the log does not know to be uncommitted.
 */
export function isAhead(end: KnownEnd, size: number, note: HeadNote, chain: boolean): boolean {
  const announced = note.uncommittedFrom(end, size);
  if (announced?.from === end.bytes && announced.hash === end.hash) return false;
  const line = lineAt(end.descriptor, end.bytes);
  return line !== null && wholeLine(line, end.hash, chain) !== null;
}

function lineAt(descriptor: number, offset: number): Uint8Array | null {
  const splitter = new LineSplitter(maximumLineBytes);
  const block = Buffer.alloc(blockSize);
  for (let at = offset; splitter.pending <= maximumLineBytes; ) {
    const read = readSync(descriptor, block, 0, blockSize, at);
    if (read === 0) return null;
    for (const line of splitter.push(block.subarray(0, read))) return line;
    at += read;
  }
  return null;
}
