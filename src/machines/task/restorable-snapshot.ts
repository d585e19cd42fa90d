import type { Snapshot } from 'xstate';
import { type ArgsDigest, type KeptSnapshot, migrateSnapshot } from './migrate-snapshot.ts';
import { rewindCall } from './rewind-call.ts';

/**
 * Converts a stored snapshot and its chart version to the snapshot from which a task resumes: migrated to the present
 * chart, and with started calls rewound so that they wait for permission. `argsDigest` returns the SHA-256 of `{tool, args}` in
 * RFC 8785 form. Throws for an invalid snapshot.
 */
export function restorableSnapshot(
  kept: unknown,
  version: number,
  argsDigest: ArgsDigest,
): Snapshot<unknown> {
  const migrated: unknown = rewindCall(migrateSnapshot(kept as KeptSnapshot, version, argsDigest));
  return migrated as Snapshot<unknown>;
}
