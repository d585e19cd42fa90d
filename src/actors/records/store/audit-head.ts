/** Where the store knows the audit log to stand. */
export interface AuditHead {
  /** Length of the current file. */
  bytes: number;
  /** Lines in the log, over all its files. */
  events: number;
  /** Hash of the last line. */
  hash: string;
  /** Lines in the log when the last checkpoint was written. */
  checkpointed: number;
  /** The number of the first line of the current file, from 1. */
  first: number;
  /** The UTC day of the first line of the current file, such as `2026-07-01`; empty when not known. */
  opened: string;
  /** The number of the first line that is to be kept. */
  keptFrom: number;
  /** The file before the current one while it is not archived yet: its first line and its length. */
  finishing: { first: number; bytes: number } | null;
}
