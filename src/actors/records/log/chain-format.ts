import type { AuditEvent } from '../../ports/audit-event.ts';

/** The `prev_hash` of the first line of a log. */
export const GENESIS = '0'.repeat(64);

/** Maximum bytes of a line, without its newline. */
export const maximumLineBytes = 4 * 1024 * 1024;

/** Name of the event that `checkpoint` creates. */
export const checkpointEvent = 'checkpoint';

/** Length and last hash of a log. A log that ends before its last known checkpoint has been truncated. */
export interface Standing {
  /** Lines in the log before the checkpoint, across all its files. */
  count: number;
  /** Hash of the last of those lines; `GENESIS` if there is none. */
  head: string;
}

/** Creates the event that states the length and last hash of the log at that time (docs/contract/audit.md). */
export function checkpoint(ts: string, { count, head }: Standing): AuditEvent {
  return { event: checkpointEvent, ts, fields: { count, head } };
}
