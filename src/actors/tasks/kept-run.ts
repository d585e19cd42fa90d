import type { Snapshot, SnapshotFrom, StateValue } from 'xstate';
import type { Task } from '../../machines/domain/task.ts';
import { taskMachineVersion } from '../../machines/task/snapshot-steps.ts';
import type { TaskContext, TaskRun } from '../../machines/task/task-input.ts';
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

/** The parts of a run that its task has too. */
const ofTask = [
  ...(['id', 'contextId', 'tags', 'requester', 'owner', 'surface'] as const),
  ...(['ran', 'decided', 'hold', 'createdAt'] as const),
] satisfies (keyof TaskRun & keyof Task)[];

const notOfRun = Object.fromEntries(ofTask.map((name) => [name, undefined]));
const notOfMessages = { history: undefined, leftOut: undefined, request: undefined };

/** Returns the stored snapshot of a run with the parts that only its task stores; `null` if none is stored. */
export function keptSnapshot({ task, snapshot }: StoredTask): unknown {
  if (snapshot === null) return null;
  const { deferral, settled, records, failure, leftOut = 0 } = task;
  const { context, ...rest } = snapshot as { context: { run: object } };
  const present = ofTask.filter((name) => task[name] !== undefined);
  const run = {
    ...{ tags: {}, ran: [], history: task.history.slice(0, -1), request: task.history.at(-1) },
    ...Object.fromEntries(present.map((name) => [name, task[name]])),
    leftOut,
    ...context.run,
  };
  return { ...rest, context: { deferral, settled, records, failure, ...context, run } };
}

/**
 * The context is plain JSON without actors, so it skips the library's search for them. A row stores the parts of the
 * task only once, so that most rows fit into one page of SQLite.
 */
function persisted(snapshot: SnapshotFrom<typeof taskMachine>): Snapshot<unknown> {
  const bare = taskMachine.getPersistedSnapshot({ ...snapshot, context: noContext });
  const { deferral: _, settled: __, records: ___, failure: ____, ...context } = snapshot.context;
  // Otherwise the messages of the task are more than those of earlier runs and the request.
  const hasOwnMessages = context.followUps.length > 0 || context.answer !== null;
  const run = { ...context.run, ...notOfRun, ...(hasOwnMessages ? {} : notOfMessages) };
  return Object.assign(bare, { context: { ...context, run } });
}

const noContext = {} as TaskContext;
