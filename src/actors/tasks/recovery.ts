import { taskMachineVersion } from '../../machines/task/task-machine.ts';
import type { Log } from '../ports.ts';
import type { TaskStore } from '../records/records.ts';
import { SystemError, unrecorded } from '../system-error.ts';
import type { LiveTasks } from './live-tasks.ts';
import type { SharedWork } from './shared-work.ts';

/** Waiting calls that are ruled on again at the same time when the service starts. */
const reviewedAtOnce = 64;

/** Tasks given up in one commit when the service restarts. */
const abandonedAtOnce = 500;

/** What recovery needs. */
export interface RecoveryPorts {
  shared: Pick<SharedWork, 'interrupted'> | null;
  tasks: LiveTasks;
  store: TaskStore;
  onRestart: 'abandon' | 'resume';
  release: string;
  log: Log;
}

/**
 * Gives up or goes on with what a restart interrupted, as configured, ends waits that the policy in force would not
 * allow any more, and has deadlines that passed meanwhile take effect (docs/contract/task.md). Tasks are taken in from
 * then on. Rejects with SystemError.
 */
export async function recover(ports: RecoveryPorts): Promise<void> {
  const { tasks, store, onRestart, release } = ports;
  await store.releases.keep(taskMachineVersion, release);
  await nameStrangers(ports);
  if (onRestart === 'abandon') await abandonInterrupted(ports);
  tasks.start();
  await reviewParked(ports);
  if (ports.shared !== null) return;
  for (const id of await store.rows.working()) {
    await skipUnreadable(ports, () => tasks.activate(id));
  }
}

/** Rules again on the calls that wait, several at the same time, as one may wait for the server of its tool. */
async function reviewParked(ports: RecoveryPorts): Promise<void> {
  const ids = (await ports.store.rows.parked()).values();
  const reviewer = async () => {
    for (const id of ids) await skipUnreadable(ports, () => ports.tasks.review(id));
  };
  await Promise.all(Array.from({ length: reviewedAtOnce }, reviewer));
}

async function nameStrangers({ store, log }: RecoveryPorts): Promise<void> {
  for (const { machineVersion, tasks } of await store.rows.strangers()) {
    const release = await store.releases.find(machineVersion);
    log.warn(
      { tasks, machine_version: machineVersion, ...(release === null ? {} : { release }) },
      'tasks: some wait for the release that saved them; start that one to decide them',
    );
  }
}

async function abandonInterrupted(ports: RecoveryPorts): Promise<void> {
  const { tasks, store, shared } = ports;
  // What other daemons have at work is not interrupted.
  const interrupted = shared?.interrupted ?? [
    ...(await store.rows.working()),
    ...(await store.rows.parked()),
  ];
  for (let first = 0; first < interrupted.length; first += abandonedAtOnce) {
    for (const id of interrupted.slice(first, first + abandonedAtOnce)) {
      await skipUnreadable(ports, () => tasks.abandon(id));
    }
    const failure = await store.flush();
    if (failure !== null) throw unrecorded(store, failure);
    // Lets each task hear that it was saved before more of them come to life.
    await new Promise((next) => setImmediate(next));
  }
}

async function skipUnreadable({ log }: RecoveryPorts, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    log.error({ error: error.message }, 'task: left as it was');
  }
}
