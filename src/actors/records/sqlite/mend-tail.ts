import { fstatSync, ftruncateSync, readSync } from 'node:fs';
import type { AuditRecovery } from '../store/audit-opening.ts';
import { StoreError } from '../store/store-error.ts';
import type { OutboxLines } from './audit-head.ts';
import { quarantineLines } from './quarantine-lines.ts';
import { writeWhole } from './write-whole.ts';

/** A file of the log and what the store knows of it. */
export interface KnownFile {
  descriptor: number;
  path: string;
  /** How long it has to be. */
  bytes: number;
  outbox: () => Iterable<OutboxLines>;
  /** Throws when what stands beyond `bytes`, up to `size`, may not be cut off. */
  vet: (size: number) => void;
  /** Epoch milliseconds. */
  now: number;
}

/**
 * Makes the file end exactly where the store says: what was never committed is quarantined, what was lost or
 * damaged is written again from the outbox; to be called under the store's lock. Throws StoreError when lines
 * are missing that nothing can replace.
 */
export function mendTail(file: KnownFile): AuditRecovery {
  const { descriptor, path, bytes } = file;
  const { size } = fstatSync(descriptor);
  const sound = soundLength(file, size);
  if (size > bytes) file.vet(size);
  const torn = size > sound ? quarantineLines(file, sound, size) : null;
  if (torn !== null) ftruncateSync(descriptor, sound);
  const replayed = replay(file, sound);
  if (sound + replayed === bytes) return { torn, replayed };
  throw new StoreError(
    `${path} has ${size} bytes but ${bytes} were written: lines were removed from the audit log; restore it, or move it away together with the task store`,
  );
}

/**
 * Writes again what may not be on disk: once a sync has failed, the system takes pages for written
 * that are not, and no later sync says so. Throws what mendTail throws.
 */
export function rewriteTail(file: KnownFile): void {
  const lines = [...file.outbox()];
  const start = lines[0]?.offset ?? file.bytes;
  if (fstatSync(file.descriptor).size > start) ftruncateSync(file.descriptor, start);
  mendTail({ ...file, outbox: () => lines });
}

/** How far the file is what the store knows; the outbox tells of its end, and the rest is on disk for certain. */
function soundLength({ descriptor, bytes, outbox }: KnownFile, size: number): number {
  const end = Math.min(size, bytes);
  for (const { offset, lines } of outbox()) {
    if (offset >= end) break;
    if (!holds(descriptor, offset, lines.subarray(0, end - offset))) return offset;
  }
  return end;
}

/** Appends what the outbox has beyond a length; returns how many bytes those were. */
function replay({ descriptor, outbox }: KnownFile, from: number): number {
  let end = from;
  for (const { offset, lines } of outbox()) {
    if (offset > end) break;
    const missing = lines.subarray(end - offset);
    if (missing.length === 0) continue;
    writeWhole(descriptor, missing);
    end += missing.length;
  }
  return end - from;
}

/** Returns whether the file has these bytes there; a power cut may leave zeros in their place. */
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
