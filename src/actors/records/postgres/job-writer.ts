/** The parts of a commit that affect jobs. */
export interface JobChanges {
  /** Tasks that this daemon starts running with this commit. */
  begun: readonly string[];
  /** Tasks that were running and are now parked or final. */
  ended: readonly string[];
  /** Tasks with a changed deadline, in epoch milliseconds; `null` for none. */
  deadlines: readonly { id: string; at: number | null }[];
}

/** The connection of an open transaction. */
export interface JobTransaction {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** Writes the jobs of a commit inside its transaction, so both take effect together or not at all. */
export interface JobWriter {
  write(transaction: JobTransaction, changes: JobChanges): Promise<void>;
}
