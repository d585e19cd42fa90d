import { taskMachineVersion } from '../../machines/task/task-machine.ts';
import type { Log } from '../ports.ts';
import type { TaskStore } from '../records/records.ts';
import { SystemError, unrecorded } from '../system-error.ts';
import type { LiveTasks } from './live-tasks.ts';

/** Tasks given up in one commit when the service restarts. */
const abandonedAtOnce = 500;

/** What recovery needs. */
export interface RecoveryPorts {
  tasks: LiveTasks;
  store: TaskStore;
  onRestart: 'abandon' | 'resume';
  release: string;
  log: Log;
}

/**
 * Gives up or goes on with what a restart interrupted, as configured, and has deadlines that passed meanwhile
 * take effect (contract section 4). Tasks are taken in from then on. Rejects with SystemError.
 */
export async function recover(ports: RecoveryPorts): Promise<void> {
  const { tasks, store, onRestart, release } = ports;
  store.releases.keep(taskMachineVersion, release);
  nameStrangers(ports);
  if (onRestart === 'abandon') await abandonInterrupted(ports);
  tasks.start();
  for (const id of store.rows.working()) skipUnreadable(ports, () => tasks.activate(id));
}

function nameStrangers({ store, log }: RecoveryPorts): void {
  for (const { machineVersion, tasks } of store.rows.strangers()) {
    const release = store.releases.find(machineVersion);
    log.warn(
      { tasks, machine_version: machineVersion, ...(release === null ? {} : { release }) },
      'tasks: some wait for the release that saved them; start that one to decide them',
    );
  }
}

async function abandonInterrupted(ports: RecoveryPorts): Promise<void> {
  const { tasks, store } = ports;
  const interrupted = [...store.rows.working(), ...store.rows.parked()];
  for (let first = 0; first < interrupted.length; first += abandonedAtOnce) {
    for (const id of interrupted.slice(first, first + abandonedAtOnce)) {
      skipUnreadable(ports, () => tasks.abandon(id));
    }
    const failure = store.flush();
    if (failure !== null) throw unrecorded(failure);
    // Lets each task hear that it was saved before more of them come to life.
    await new Promise((next) => setImmediate(next));
  }
}

function skipUnreadable({ log }: RecoveryPorts, run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    log.error({ error: error.message }, 'task: left as it was');
  }
}
