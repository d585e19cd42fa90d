/** Lines that were cut off a log. */
export interface TornLines {
  /** Number of lines, including one without a newline. */
  lines: number;
  bytes: number;
  /** Name of the file next to the log that now contains them. */
  file: string;
}

/** Repairs made when the log was opened. */
export interface AuditRecovery {
  /** Lines that were cut off and saved in a file next to the log; `null` for none. */
  torn: TornLines | null;
  /** Bytes that were committed but missing in the file, and were rewritten. */
  replayed: number;
}

/** What the first start on a store from a backup changed. */
export interface RestoredStore {
  /** Time of the backup in epoch milliseconds. */
  backupAt: number;
  /** Number of running tasks that were ended. */
  ended: number;
  /** Number of waiting calls whose approvers are warned. */
  waiting: number;
  /** Number of approved calls of other programs that are released no more, since their program may have received them. */
  holds: number;
  /** Number of suspended approvals for later calls. */
  grants: number;
  /** Number of deleted receivers of push notifications. */
  pushTargets: number;
}

/** Findings of opening the log; all of them are recorded in the log. */
export interface AuditOpening {
  /** Set if the store was older than its log and the log was kept: lines unknown to the store, and ended tasks. */
  behind: { events: number; tasks: number } | null;
  /** Set if the store was lost but its log exists: number of calls that were waiting. */
  lost: { waiting: number } | null;
  /** Set if the store was restored from a backup since it was last opened. */
  restored: RestoredStore | null;
  /** Bytes of the log lines that record these findings. */
  lines: Uint8Array | null;
}
