import type { Snapshot, SnapshotFrom, StateValue } from 'xstate';
import type { TaskContext } from '../../machines/task/task-input.ts';
import { taskMachine, taskMachineVersion } from '../../machines/task/task-machine.ts';
import type { StoredTask, TaskWrite } from '../records/records.ts';

/** What is kept of a run so that it can be gone on with. */
type KeptRun = Pick<TaskWrite['change'], 'snapshot' | 'machineVersion' | 'startedCall'>;

/** Returns what is kept of a run; nothing of a final one, which is never gone on with. */
export function keptRun(snapshot: SnapshotFrom<typeof taskMachine>, isOver: boolean): KeptRun {
  return {
    snapshot: isOver ? null : JSON.stringify(persisted(snapshot)),
    machineVersion: taskMachineVersion,
    startedCall: isOver ? null : startedCallOf(snapshot.context),
  };
}

/** Returns where a run stands in the chart that kept it; `null` when nothing of it is kept. */
export function keptValue(stored: StoredTask | undefined): StateValue | null {
  return (stored?.snapshot as { value?: StateValue } | null | undefined)?.value ?? null;
}

function startedCallOf({ startedAt, pending }: TaskContext): string | null {
  return startedAt === null ? null : (pending[0]?.id ?? null);
}

/** The context is plain JSON without actors in it, so it is spared the search for them. */
function persisted(snapshot: SnapshotFrom<typeof taskMachine>): Snapshot<unknown> {
  const bare = taskMachine.getPersistedSnapshot({ ...snapshot, context: noContext });
  return Object.assign(bare, { context: snapshot.context });
}

const noContext = {} as TaskContext;
