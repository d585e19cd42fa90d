import type { DatabaseSync } from 'node:sqlite';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { LineSigner } from '../log/line-signer.ts';
import type { PublicKeySet } from '../log/public-keys.ts';
import type { AuditHead } from '../store/audit-head.ts';
import type { AuditOpening } from '../store/audit-opening.ts';
import type { TaskInLog } from '../store/task-in-log.ts';
import type { AuditRows } from './audit-head.ts';
import { linesAhead } from './lines-ahead.ts';
import { wordsOfLostWaits } from './open-waits.ts';
import { SqliteTaskRows } from './sqlite-task-rows.ts';
import { StoreBehindError } from './store-behind-error.ts';
import { TasksBehind } from './tasks-behind.ts';

/** Lines that the store did not know, and their tasks. */
interface KeptLines {
  events: number;
  tasks: TasksBehind;
}

/** Owner of a log, and treatment of lines unknown to its store. */
export interface KeepOptions {
  path: string;
  /** False omits `prev_hash`. */
  chain: boolean;
  database: DatabaseSync;
  /** Signs every line; when absent, lines are unsigned. */
  signer?: LineSigner | null;
  /** Public keys of a signed log; when absent, signatures of lines ahead of the store are not verified. */
  keys?: PublicKeySet;
  /** True keeps lines that the store does not know, and ends their tasks. */
  keepLog?: boolean;
}

/**
 * Advances the store over log lines that it does not know; `null` if there are none. Throws StoreBehindError unless
 * they are to be kept.
 */
export async function keepAhead(rows: AuditRows, options: KeepOptions): Promise<KeptLines | null> {
  const { path, chain, database, signer = null, keys, keepLog = false } = options;
  const tasks = keepLog ? new TasksBehind(new SqliteTaskRows(database)) : null;
  const ahead = await linesAhead(rows.read() as AuditHead, {
    path,
    chain,
    keys: signer === null ? null : (keys ?? null),
    onLine: (line) => tasks?.take(line),
  });
  if (ahead === null) return null;
  const { events, files, head, hasGap } = ahead;
  if (tasks === null) {
    throw new StoreBehindError(database.location() ?? 'in memory', { events, files });
  }
  if (hasGap) tasks.takeAll();
  // The log already contains the outbox lines.
  rows.releaseAll();
  rows.advance(head);
  return { events, tasks };
}

/**
 * Ends the tasks whose state was lost, because the store was lost or is older than its log, and creates their events.
 * Must be called in the open transaction of the store.
 *
 * @param lostWaits held calls in a log whose store was lost; `null` if none was
 * @param at epoch milliseconds
 */
export function settle(
  lostWaits: readonly TaskInLog[] | null,
  ahead: KeptLines | null,
  at: number,
): Omit<AuditOpening, 'lines' | 'restored'> & { events: AuditEvent[] } {
  const ts = new Date(at).toISOString();
  const ended = ahead?.tasks.end(at) ?? null;
  const lost = lostWaits === null ? null : { waiting: lostWaits.length };
  const behind = ahead === null ? null : { events: ahead.events, tasks: ended?.tasks ?? 0 };
  const events = [
    ...(lost === null ? [] : [{ event: 'store_lost', ts, fields: lost }]),
    ...wordsOfLostWaits(lostWaits ?? [], at),
    ...(behind === null ? [] : [{ event: 'store_behind_log', ts, fields: behind }]),
    ...(ended?.events ?? []),
  ];
  return { behind, lost, events };
}
