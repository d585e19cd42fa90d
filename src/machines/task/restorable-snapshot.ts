import type { Snapshot } from 'xstate';
import { rewindCall } from './rewind-call.ts';
import { type KeptSnapshot, presentSnapshot } from './snapshot-steps.ts';

/**
 * Converts a stored snapshot and its chart version to the snapshot from which a task resumes: of the present chart, and
 * with started calls rewound so that they wait for permission. Throws for an invalid snapshot.
 */
export function restorableSnapshot(kept: unknown, version: number): Snapshot<unknown> {
  const present: unknown = rewindCall(presentSnapshot(kept as KeptSnapshot, version));
  return present as Snapshot<unknown>;
}
