/** Which release of the agent runtime brought which version of the task chart, as far as this store has seen them. */
export interface ReleaseRows {
  /** Returns the release that last ran a version of the chart here; `null` when none is known. */
  find(machineVersion: number): Promise<string | null>;
  /** Keeps which release runs a version of the chart. */
  keep(machineVersion: number, release: string): Promise<void>;
}
