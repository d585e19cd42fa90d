import type { Statement } from './commit-batch.ts';

/** The parts of a commit that affect jobs. */
export interface JobChanges {
  /** Tasks that this daemon starts running with this commit. */
  begun: readonly string[];
  /** Tasks that were running and are now parked or final. */
  ended: readonly string[];
  /** Tasks with a changed deadline, in epoch milliseconds; `null` for none. */
  deadlines: readonly { id: string; at: number | null }[];
}

/** Writes the jobs of a commit inside its transaction, so both take effect together or not at all. */
export interface JobWriter {
  /**
   * Returns the statements of a commit.
   *
   * @param mayRemain true if jobs of the begun tasks may exist, such as those of a dead daemon whose tasks are taken over
   */
  statements(changes: JobChanges, mayRemain: boolean): Promise<Statement[]>;
  /** Handles a commit that is on disk. */
  committed(changes: JobChanges): void;
}
