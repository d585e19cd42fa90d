import { fstatSync, ftruncateSync, readSync } from 'node:fs';
import type { AuditRecovery } from '../store/audit-opening.ts';
import { StoreError } from '../store/store-error.ts';
import type { OutboxLines } from './audit-head.ts';
import { quarantineLines } from './quarantine-lines.ts';
import { writeWhole } from './write-whole.ts';

/** A file of the log and its state in the store. */
export interface KnownFile {
  descriptor: number;
  path: string;
  /** Committed length. */
  bytes: number;
  outbox: () => Iterable<OutboxLines>;
  /** True writes the whole outbox again, because a failed sync may have lost any part of it. */
  isSuspect: boolean;
  /** Epoch milliseconds. */
  now: number;
}

/**
 * Makes the file hold exactly the committed lines: writes missing or damaged bytes from the outbox and moves foreign
 * bytes to a file of their own. A committed line never leaves the file. Throws StoreError when committed lines are
 * missing that the outbox no longer has.
 */
export function mendTail(file: KnownFile): AuditRecovery {
  const { descriptor, path, bytes } = file;
  const { size } = fstatSync(descriptor);
  const sound = soundLength(file, size);
  const torn = size > sound ? quarantineLines(file, sound, size) : null;
  const end = writeOutbox(file, sound);
  if (end !== bytes) {
    throw new StoreError(
      `${path} has ${size} bytes but ${bytes} were written: lines were removed from the audit log; restore it, or move it away together with the task store`,
    );
  }
  if (size > bytes) ftruncateSync(descriptor, bytes);
  return { torn, replayed: bytes - sound };
}

/** Returns the length up to which the file matches the store; bytes before the outbox are on disk already. */
function soundLength({ descriptor, bytes, outbox }: KnownFile, size: number): number {
  const end = Math.min(size, bytes);
  for (const { offset, lines } of outbox()) {
    if (offset >= end) break;
    if (!holds(descriptor, offset, lines.subarray(0, end - offset))) return offset;
  }
  return end;
}

/** Writes the outbox from a length on, or all of it after a failed sync. Returns the length of the file. */
function writeOutbox({ descriptor, outbox, isSuspect }: KnownFile, from: number): number {
  let end = from;
  for (const { offset, lines } of outbox()) {
    if (offset > end) break;
    const start = isSuspect ? offset : Math.max(offset, end);
    const missing = lines.subarray(start - offset);
    writeWhole(descriptor, missing, start);
    end = Math.max(end, offset + lines.length);
  }
  return end;
}

/** Returns whether the file has these bytes there. A power cut may have left zeros. */
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
