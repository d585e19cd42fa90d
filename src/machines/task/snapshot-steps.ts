/** A persisted task snapshot (JSON), written by any supported chart version. */
export interface KeptSnapshot {
  context: { [key: string]: unknown };
  [key: string]: unknown;
}

/** Converts a snapshot of one version of the task chart to the next version. */
export type SnapshotStep = (snapshot: KeptSnapshot) => KeptSnapshot;

/** Steps from each version of the task chart to the next, from 1; append only. */
export const snapshotSteps: readonly SnapshotStep[] = [];

/** The oldest version whose snapshots can be resumed. */
export const oldestTaskMachineVersion = 1;

/**
 * Stored with every snapshot. A step increases it: add one if the chart can no longer restore its older snapshots
 * unchanged.
 */
export const taskMachineVersion = oldestTaskMachineVersion + snapshotSteps.length;

/** Returns true if snapshots of a version can be resumed; never for a newer chart. */
export function isKnownVersion(version: number): boolean {
  return version >= oldestTaskMachineVersion && version <= taskMachineVersion;
}

/** Converts a snapshot of a known version to the version after the last step. */
export function presentSnapshot(
  snapshot: KeptSnapshot,
  version: number,
  steps: readonly SnapshotStep[] = snapshotSteps,
): KeptSnapshot {
  return steps
    .slice(version - oldestTaskMachineVersion)
    .reduce((before, step) => step(before), snapshot);
}
