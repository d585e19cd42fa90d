import { setImmediate as turn } from 'node:timers/promises';
import { taskMachineVersion } from '../../machines/task/snapshot-steps.ts';
import type { Log } from '../ports/log.ts';
import type { TaskStore } from '../records/records.ts';
import { SystemError, unrecorded } from '../system-error.ts';
import type { LiveTasks } from './live-tasks.ts';
import type { SharedWork } from './shared-work.ts';

/** Maximum held calls re-evaluated concurrently at start-up. */
const reviewedAtOnce = 64;

/** Time to read what a tool runs, in milliseconds. */
const readWithin = 1_000;

/** Maximum held calls re-evaluated before new tasks are accepted. */
const reviewedBefore = 1_000;

/** Tasks abandoned per commit after a restart. */
const abandonedAtOnce = 500;

export interface RecoveryPorts {
  shared: Pick<SharedWork, 'interrupted'> | null;
  tasks: LiveTasks;
  store: TaskStore;
  onRestart: 'abandon' | 'resume';
  release: string;
  log: Log;
}

/**
 * Recovers after a restart: abandons or resumes interrupted tasks as configured, ends waits that the current policy no
 * longer allows, and applies deadlines that passed meanwhile (docs/contract/task.md). New tasks are accepted
 * afterwards. Rejects with SystemError.
 */
export async function recover(ports: RecoveryPorts): Promise<void> {
  const { tasks, store, onRestart, release, shared } = ports;
  if (shared !== null) await store.releases.keep(taskMachineVersion, release);
  await nameStrangers(ports);
  if (onRestart === 'abandon') await abandonInterrupted(ports);
  tasks.start();
  await reviewParked(ports);
  if (ports.shared !== null) return;
  for (const id of await store.rows.working()) {
    await skipUnreadable(ports, () => tasks.activate(id));
  }
}

/**
 * Re-evaluates held calls whose ruling may have changed, concurrently, since one may wait for its tool's server. Beyond a
 * number that takes a moment, calls are re-evaluated after the start: each is ruled on again at its release in any case.
 */
async function reviewParked(ports: RecoveryPorts): Promise<void> {
  const ids = await ports.store.rows.parked(await ownRulings(ports));
  await review(ports, ids.slice(0, reviewedBefore));
  const later = ids.slice(reviewedBefore);
  if (later.length === 0) return reviewed(ports);
  void review(ports, later)
    .then(() => reviewed(ports))
    .catch((error: unknown) => notReviewed(ports, error));
}

/** A release is stored once it has ruled on every waiting call, so that a start in between rules on all of them again. */
async function reviewed({ tasks, store, release, shared }: RecoveryPorts): Promise<void> {
  if (tasks.isStopped) return;
  if (shared === null) await store.releases.keep(taskMachineVersion, release);
  tasks.noticeReviewed();
}

/** Returns the stored rulings that this release would make again; another release may rule by other code. */
async function ownRulings({ tasks, store, release }: RecoveryPorts): Promise<string[]> {
  if ((await store.releases.find(taskMachineVersion)) !== release) return [];
  const rulings = await store.rows.rulings();
  // A server that does not answer delays no start: its calls are ruled on like all others.
  const late = new Promise<false>((resolve) => {
    setTimeout(resolve, readWithin, false).unref();
  });
  const inTime = (made: string) => Promise.race([tasks.wouldRuleAgain(made), late]);
  const isSame = await Promise.all(rulings.map(inTime));
  return rulings.filter((_, at) => isSame[at]);
}

async function review(ports: RecoveryPorts, list: readonly string[]): Promise<void> {
  const ids = list.values();
  const reviewer = async () => {
    for (const id of ids) {
      if (ports.tasks.isStopped) return;
      await skipUnreadable(ports, () => ports.tasks.review(id));
      // Requests are answered between the reviews.
      await turn();
    }
  };
  await Promise.all(Array.from({ length: reviewedAtOnce }, reviewer));
}

function notReviewed({ tasks, log }: RecoveryPorts, error: unknown): void {
  // The store closes under a review that is under way.
  if (!tasks.isStopped) log.error({ error }, 'tasks: some waiting calls were not ruled on again');
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
  // Tasks running on other daemons are not interrupted.
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
    // Lets each task process its commit before further tasks are loaded.
    await new Promise((next) => setImmediate(next));
  }
}

async function skipUnreadable({ log }: RecoveryPorts, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    log.error({ error: error.message }, 'task: left unchanged');
  }
}
