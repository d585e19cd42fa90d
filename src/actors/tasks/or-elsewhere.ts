import { taskMachineVersion } from '../../machines/task/snapshot-steps.ts';
import type { TaskStore } from '../records/records.ts';
import { SystemError } from '../system-error.ts';
import type { HandedRequest, SharedWork } from './shared-work.ts';

export interface ElsewherePorts {
  id: string;
  request: HandedRequest;
  store: Pick<TaskStore, 'rows'>;
  shared: SharedWork | null;
}

/**
 * Runs a request about a task. If a later release has saved the task, as while daemons are upgraded one by one, a daemon
 * of that release answers in this one's place. Throws the error of `run` if there is none.
 */
export async function orElsewhere<Answer>(
  { id, request, store, shared }: ElsewherePorts,
  run: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await run();
  } catch (error) {
    const isOfOther = error instanceof SystemError && error.code === 'unknown_machine_version';
    if (!isOfOther || shared === null) throw error;
    const { machineVersion = 0 } = (await store.rows.read(id)) ?? {};
    if (machineVersion <= taskMachineVersion) throw error;
    const handed = await shared.handOver(id, machineVersion, request);
    if (handed === null) throw error;
    // Safe to cast: the daemon answers with the result of the same method.
    return handed.answer as Answer;
  }
}
