/** Position of the audit log according to the store. */
export interface AuditHead {
  /** Length of the current file, in bytes. */
  bytes: number;
  /** Number of lines in the log, across all its files. */
  events: number;
  /** Hash of the last line. */
  hash: string;
  /** Number of lines in the log at the last checkpoint. */
  checkpointed: number;
  /** Number of the current file's first line, from 1. */
  first: number;
  /** UTC day of the current file's first line, such as `2026-07-01`; empty if unknown. */
  opened: string;
  /** Number of the first line to keep. */
  keptFrom: number;
  /** First line and length of the previous file, while it is not archived yet. */
  finishing: { first: number; bytes: number } | null;
}
