/** What of a commit concerns the job engine. */
export interface JobChanges {
  /** Tasks that are at work with this commit, at this daemon, and were not before. */
  begun: readonly string[];
  /** Tasks that were at work and are parked or final now. */
  ended: readonly string[];
  /** Tasks with another deadline than before, in epoch milliseconds; `null` for none any more. */
  deadlines: readonly { id: string; at: number | null }[];
}

/** The connection of a transaction, for statements that belong to it. */
export interface JobTransaction {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** Writes the jobs of a commit inside its transaction, so that both are there or neither. */
export interface JobWriter {
  write(transaction: JobTransaction, changes: JobChanges): Promise<void>;
}
