import { createReadStream, existsSync, statSync } from 'node:fs';
import { GENESIS } from '../log/chain-format.ts';
import { finishedFilesOf, logFilesOf } from '../log/log-files.ts';
import type { AuditHead } from '../store/audit-head.ts';
import { StoreError } from '../store/store-error.ts';
import type { TaskInLog } from '../store/task-in-log.ts';
import { openWaits } from './open-waits.ts';
import { verifyLogFiles } from './verify-log-files.ts';

/** A log without a store. */
export interface ImportedLog {
  /** Position of the log. */
  head: AuditHead;
  /** Held calls in the log whose store was lost; `null` if the log is empty. */
  lostWaits: TaskInLog[] | null;
}

/**
 * Imports a log without a store, so that its chain continues. Its oldest files may have been deleted. Throws StoreError
 * if it does not verify.
 */
export async function importLog(path: string, chain: boolean): Promise<ImportedLog> {
  const head = await headOf(path, chain);
  const files = logFilesOf(path);
  const isEmpty = files.every((file) => statSync(file).size === 0);
  return { head, lostWaits: isEmpty ? null : await openWaits(files) };
}

async function headOf(path: string, chain: boolean): Promise<AuditHead> {
  const finished = finishedFilesOf(path);
  const current = {
    bytes: existsSync(path) ? statSync(path).size : 0,
    opened: '',
    keptFrom: finished[0]?.first ?? 1,
    finishing: null,
  };
  if (!chain) {
    // Without a chain the log is not verified, so the lines in its last files are not counted.
    const events = finished.at(-1)?.first ?? 0;
    return { ...current, events, hash: GENESIS, checkpointed: events, first: events + 1 };
  }
  const { head, events } = await verified(path);
  const inCurrent = current.bytes === 0 ? 0 : await linesIn(path);
  return { ...current, events, hash: head, checkpointed: events, first: events - inCurrent + 1 };
}

async function verified(path: string): Promise<{ head: string; events: number }> {
  const { first, verdict } = await verifyLogFiles(path);
  if (verdict.ok) return { head: verdict.head, events: first - 1 + verdict.events };
  throw new StoreError(
    `${verdict.file}:${verdict.line}: the audit log does not verify (${verdict.reason}); move it away to start a new one, or restore it`,
  );
}

async function linesIn(file: string): Promise<number> {
  let lines = 0;
  for await (const chunk of createReadStream(file)) {
    const bytes = chunk as Uint8Array;
    for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines += 1;
  }
  return lines;
}
