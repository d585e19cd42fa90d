import type { Snapshot, SnapshotFrom, StateValue } from 'xstate';
import { taskMachineVersion } from '../../machines/task/snapshot-steps.ts';
import type { TaskContext } from '../../machines/task/task-input.ts';
import { taskMachine } from '../../machines/task/task-machine.ts';
import type { StoredTask, TaskWrite } from '../records/records.ts';

/** The stored data for resuming a run. */
type KeptRun = Pick<TaskWrite['change'], 'snapshot' | 'machineVersion' | 'startedCall'>;

/** Returns the data to store for a run; none for a final run, which is never resumed. */
export function keptRun(snapshot: SnapshotFrom<typeof taskMachine>, isOver: boolean): KeptRun {
  return {
    snapshot: isOver ? null : persisted(snapshot),
    machineVersion: taskMachineVersion,
    startedCall: isOver ? null : startedCallOf(snapshot.context),
  };
}

/** Returns the stored state of a run in its chart version; `null` if none is stored. */
export function keptValue(stored: StoredTask | undefined): StateValue | null {
  return (stored?.snapshot as { value?: StateValue } | null | undefined)?.value ?? null;
}

function startedCallOf({ startedAt, pending }: TaskContext): string | null {
  return startedAt === null ? null : (pending[0]?.id ?? null);
}

/** Returns the stored snapshot of a run with the parts that only its task stores; `null` if none is stored. */
export function keptSnapshot({ task, snapshot }: StoredTask): unknown {
  if (snapshot === null) return null;
  const { deferral, settled, records, failure } = task;
  const { context, ...rest } = snapshot as { context: object };
  return { ...rest, context: { deferral, settled, records, failure, ...context } };
}

/**
 * The context is plain JSON without actors, so it skips the library's search for them. A row stores the parts of the
 * task only once, so that most rows fit into one page of SQLite.
 */
function persisted(snapshot: SnapshotFrom<typeof taskMachine>): Snapshot<unknown> {
  const bare = taskMachine.getPersistedSnapshot({ ...snapshot, context: noContext });
  const { deferral: _, settled: __, records: ___, failure: ____, ...context } = snapshot.context;
  return Object.assign(bare, { context });
}

const noContext = {} as TaskContext;
