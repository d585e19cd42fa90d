import { fstatSync, ftruncateSync, readSync, statSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { GENESIS } from '../audit/chain-format.ts';
import { verifyFiles } from '../audit/verify-files.ts';
import { StoreError } from './database.ts';

/** Where the store knows the audit log to stand. */
export interface AuditHead {
  /** Length of the log file. */
  bytes: number;
  /** Lines in the log. */
  events: number;
  /** Hash of the last line. */
  hash: string;
  /** Lines in the log when the last checkpoint was written. */
  checkpointed: number;
}

/** What opening a log had to mend, in bytes; both are 0 after a clean stop. */
export interface AuditRecovery {
  /** Written by a transaction that never committed, and so taken back. */
  dropped: number;
  /** Committed but lost by the file, and so written again. */
  replayed: number;
}

/**
 * Returns where a log that no store knows stands, so that the chain goes on from there.
 * Throws StoreError when it does not verify.
 */
export async function adoptLog(path: string, chain: boolean): Promise<AuditHead> {
  const bytes = statSync(path).size;
  if (!chain) return { bytes, events: 0, hash: GENESIS, checkpointed: 0 };
  const result = await verifyFiles([path]);
  if (result.ok) {
    return { bytes, events: result.events, hash: result.head, checkpointed: result.events };
  }
  throw new StoreError(
    `${path}:${result.line}: the audit log does not verify (${result.reason}); move it away to start a new one, or restore it`,
  );
}

/**
 * Makes the file end exactly where the store says: an uncommitted tail is dropped, a lost or
 * damaged one is written again from the outbox; to be called under the store's lock. Throws
 * StoreError when lines are missing that nothing can replace.
 */
export function mendTail(
  descriptor: number,
  path: string,
  head: AuditHead,
  database: DatabaseSync,
): AuditRecovery {
  const { size } = fstatSync(descriptor);
  if (size > head.bytes) ftruncateSync(descriptor, head.bytes);
  let end = Math.min(size, head.bytes);
  let replayed = 0;
  const outbox = database.prepare('SELECT offset, lines FROM audit_outbox ORDER BY offset');
  for (const row of outbox.iterate()) {
    const offset = Number(row['offset']);
    const lines = row['lines'] as Uint8Array;
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
  if (end === head.bytes) return { dropped: Math.max(0, size - head.bytes), replayed };
  throw new StoreError(
    `${path} has ${size} bytes but ${head.bytes} were written: lines were removed from the audit log; restore it, or move it away together with the task store`,
  );
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
