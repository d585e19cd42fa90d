import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import type { OutboxLines } from './audit-head.ts';
import { StoreError } from './database.ts';

/** What opening a log had to mend, in bytes; both are 0 after a clean stop. */
export interface AuditRecovery {
  /** Written by a transaction that never committed, and so taken back. */
  dropped: number;
  /** Committed but lost by the file, and so written again. */
  replayed: number;
}

/** A file of the log and what the store knows of it. */
export interface KnownFile {
  descriptor: number;
  path: string;
  /** How long it has to be. */
  bytes: number;
  outbox: Iterable<OutboxLines>;
}

/**
 * Makes the file end exactly where the store says: an uncommitted tail is dropped, a lost or
 * damaged one is written again from the outbox; to be called under the store's lock. Throws
 * StoreError when lines are missing that nothing can replace.
 */
export function mendTail({ descriptor, path, bytes, outbox }: KnownFile): AuditRecovery {
  const { size } = fstatSync(descriptor);
  if (size > bytes) ftruncateSync(descriptor, bytes);
  let end = Math.min(size, bytes);
  let replayed = 0;
  for (const { offset, lines } of outbox) {
    if (offset > end) break;
    let kept = Math.min(lines.length, end - offset);
    if (!holds(descriptor, offset, lines.subarray(0, kept))) {
      ftruncateSync(descriptor, offset);
      kept = 0;
    }
    if (kept === lines.length) continue;
    writeWhole(descriptor, lines.subarray(kept));
    replayed += lines.length - kept;
    end = offset + lines.length;
  }
  if (end === bytes) return { dropped: Math.max(0, size - bytes), replayed };
  throw new StoreError(
    `${path} has ${size} bytes but ${bytes} were written: lines were removed from the audit log; restore it, or move it away together with the task store`,
  );
}

/**
 * Writes again what may not be on disk: once a sync has failed, the system takes pages for written
 * that are not, and no later sync says so. Throws what mendTail throws.
 */
export function rewriteTail(file: KnownFile): void {
  const lines = [...file.outbox];
  const start = lines[0]?.offset ?? file.bytes;
  if (fstatSync(file.descriptor).size > start) ftruncateSync(file.descriptor, start);
  mendTail({ ...file, outbox: lines });
}

/** Tells whether the file has these bytes there; a power cut may leave zeros in their place. */
function holds(descriptor: number, offset: number, bytes: Uint8Array): boolean {
  const found = Buffer.alloc(bytes.length);
  let read = 0;
  while (read < found.length) {
    const more = readSync(descriptor, found, read, found.length - read, offset + read);
    if (more === 0) return false;
    read += more;
  }
  return found.equals(bytes);
}

/** Appends all of the bytes or throws. */
export function writeWhole(descriptor: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) {
    written += writeSync(descriptor, bytes, written, bytes.length - written);
  }
}
