import type { AuditEvent } from '../../ports.ts';

/** The `prev_hash` of the first line of a log. */
export const GENESIS = '0'.repeat(64);

/** The most bytes a line may have, its newline not counted. */
export const maximumLineBytes = 4 * 1024 * 1024;

/** The name of the event that `checkpoint` makes. */
export const checkpointEvent = 'checkpoint';

/** Where a log stands, as a line of its own; a log that ends before its last known checkpoint has been cut. */
export interface Standing {
  /** Lines in the log before the checkpoint, over all its files. */
  count: number;
  /** The hash of the last of them, `GENESIS` when there is none. */
  head: string;
}

/** The event that states how long the log was, and its last hash, when it was written (docs/contract/audit.md). */
export function checkpoint(ts: string, { count, head }: Standing): AuditEvent {
  return { event: checkpointEvent, ts, fields: { count, head } };
}
