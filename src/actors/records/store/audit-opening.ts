/** Lines that were cut off a log. */
export interface TornLines {
  /** What stood there, a line without its newline included. */
  lines: number;
  bytes: number;
  /** The name of the file beside the log that has them now. */
  file: string;
}

/** What opening the log had to mend. */
export interface AuditRecovery {
  /** What was cut off and is kept in a file beside the log; `null` when nothing was. */
  torn: TornLines | null;
  /** Bytes that were committed but lost by the file, and so written again. */
  replayed: number;
}

/** What opening the log found; all of it is in the log once it is open. */
export interface AuditOpening {
  /** The store was older than its log, which was kept: lines it did not know, and tasks that were ended. */
  behind: { events: number; tasks: number } | null;
  /** The store was lost while its log stands: calls that were waiting. */
  lost: { waiting: number } | null;
  /** The bytes of the lines that say so. */
  lines: Uint8Array | null;
}
