/** The release of the agent runtime that introduced each version of the task chart, as seen by this store. */
export interface ReleaseRows {
  /** Returns the release that last used a version of the chart here; `null` if unknown. */
  find(machineVersion: number): Promise<string | null>;
  /** Stores the release that uses a version of the chart. */
  keep(machineVersion: number, release: string): Promise<void>;
}
