import type { Snapshot } from 'xstate';
import { type KeptSnapshot, migrateSnapshot } from './migrate-snapshot.ts';
import { rewindCall } from './rewind-call.ts';

/**
 * Returns the snapshot that a task goes on from, out of one that was kept as plain JSON with the version of its chart: that
 * of the present chart, in which a call that had started does not run by itself. Throws for what was no snapshot.
 */
export function restorableSnapshot(kept: unknown, version: number): Snapshot<unknown> {
  const migrated: unknown = rewindCall(migrateSnapshot(kept as KeptSnapshot, version));
  return migrated as Snapshot<unknown>;
}
