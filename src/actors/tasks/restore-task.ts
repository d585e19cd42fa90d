import type { Snapshot, StateValue } from 'xstate';
import { isKnownVersion } from '../../machines/task/migrate-snapshot.ts';
import { restorableSnapshot } from '../../machines/task/restorable-snapshot.ts';
import type { StartStanding } from '../../machines/task/task-events.ts';
import type { TaskContext } from '../../machines/task/task-input.ts';
import { taskMachineVersion } from '../../machines/task/task-machine.ts';
import type { Tool } from '../ports.ts';
import type { StoredTask, TaskStore } from '../records/records.ts';
import { SystemError } from '../system-error.ts';

/** What telling why a task cannot be restored needs. */
export interface RestorePorts {
  store: Pick<TaskStore, 'releases'>;
  /** The release that runs, for whoever finds its tasks with another one. */
  release: string;
}

/** A snapshot of the present chart. */
export type RestorableSnapshot = Snapshot<unknown> & {
  value?: StateValue;
  context: Partial<TaskContext>;
};

/** What is kept of a task cannot be brought to a snapshot of the present chart. */
export class UnrestorableError extends Error {
  readonly code = 'unrestorable';
}

/**
 * Returns what `restore` makes of what is kept of a task, brought to a snapshot of the present chart. Throws
 * UnrestorableError when that cannot be done.
 */
export function restoreTask<Restored>(
  stored: StoredTask,
  restore: (snapshot: RestorableSnapshot) => Restored,
): Restored {
  const { task, snapshot, machineVersion } = stored;
  const message = `task ${task.id} cannot be restored from version ${machineVersion}`;
  if (!isKnownVersion(machineVersion)) throw new UnrestorableError(message);
  try {
    return restore(restorableSnapshot(snapshot, machineVersion) as RestorableSnapshot);
  } catch (error) {
    // It may be a defect of this release, so what is kept stays for another one.
    throw new UnrestorableError(message, { cause: error });
  }
}

/** Tells how the call of a restored task stands: one whose start was on disk ran, or may have, so only one that does no harm twice runs again. */
export function standingOf(
  { startedAt, pending: [call] }: TaskContext,
  tools: ReadonlyMap<string, Tool>,
): StartStanding {
  if (startedAt === null || call === undefined) return 'first';
  return tools.get(call.tool)?.idempotent === true ? 'repeatable' : 'unknown';
}

/** Creates the SystemError `unknown_machine_version` for a task that cannot be restored, which names the release that can. */
export async function unknownVersion(
  { task: { id }, machineVersion }: StoredTask,
  { release, store }: RestorePorts,
  cause?: unknown,
): Promise<SystemError> {
  const savedBy = await store.releases.find(machineVersion);
  const other = savedBy === null ? 'the release that saved it' : `release ${savedBy}`;
  return new SystemError(
    'unknown_machine_version',
    `task ${id} was saved by version ${machineVersion} of the task machine, and release ${release}, which runs version ${taskMachineVersion}, cannot go on with it; decide it with ${other}`,
    { cause },
  );
}
