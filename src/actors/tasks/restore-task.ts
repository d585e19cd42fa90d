import type { Snapshot, StateValue } from 'xstate';
import { restorableSnapshot } from '../../machines/task/restorable-snapshot.ts';
import { isKnownVersion, taskMachineVersion } from '../../machines/task/snapshot-steps.ts';
import type { StartStanding } from '../../machines/task/task-events.ts';
import type { TaskContext } from '../../machines/task/task-input.ts';
import type { Tool } from '../ports/tool.ts';
import type { StoredTask, TaskStore } from '../records/records.ts';
import { SystemError } from '../system-error.ts';
import { keptSnapshot } from './kept-run.ts';

export interface RestorePorts {
  store: Pick<TaskStore, 'releases'>;
  /** The running release, named in errors for tasks of another one. */
  release: string;
}

/** A snapshot of the current chart version. */
export type RestorableSnapshot = Snapshot<unknown> & {
  value?: StateValue;
  context: Partial<TaskContext>;
};

/** Stored task data cannot be migrated to a snapshot of the current chart. */
export class UnrestorableError extends Error {
  readonly code = 'unrestorable';
}

/**
 * Migrates stored task data to a snapshot of the current chart and returns the result of `restore`. Throws
 * UnrestorableError if this fails.
 */
export function restoreTask<Restored>(
  stored: StoredTask,
  restore: (snapshot: RestorableSnapshot) => Restored,
): Restored {
  const { task, machineVersion } = stored;
  const message = `task ${task.id} cannot be restored from version ${machineVersion}`;
  if (!isKnownVersion(machineVersion)) throw new UnrestorableError(message);
  try {
    return restore(restorableSnapshot(keptSnapshot(stored), machineVersion) as RestorableSnapshot);
  } catch (error) {
    // It may be a bug of this release, so the stored data is kept for another one.
    throw new UnrestorableError(message, { cause: error });
  }
}

/**
 * Returns the state of a restored task's call. A call whose start is on disk may have run, so it runs again only if its
 * tool is idempotent. A call that another program continues is followed there.
 */
export function standingOf(
  { startedAt, pending: [call] }: TaskContext,
  tools: ReadonlyMap<string, Tool>,
): StartStanding {
  if (startedAt === null || call === undefined) return 'first';
  if (call.remote !== undefined) return 'detached';
  return tools.get(call.tool)?.idempotent === true ? 'repeatable' : 'unknown';
}

/**
 * Creates the SystemError `unknown_machine_version` for a task that cannot be restored; it names the release that can.
 */
export async function unknownVersion(
  { task: { id }, machineVersion }: StoredTask,
  { release, store }: RestorePorts,
  cause?: unknown,
): Promise<SystemError> {
  const savedBy = await store.releases.find(machineVersion);
  const other = savedBy === null ? 'the release that saved it' : `release ${savedBy}`;
  return new SystemError(
    'unknown_machine_version',
    `task ${id} was saved by version ${machineVersion} of the task machine, and release ${release}, which runs version ${taskMachineVersion}, cannot continue it; decide it with ${other}`,
    { cause },
  );
}
