import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readServeFile, removeServeFile, type ServeFile } from '../process/process.ts';
import { removeCrashNote } from './crash-note.ts';
import { isOwnProcess } from './own-process.ts';
import { sightAgent } from './sight-agent.ts';

export interface HaltOptions {
  /** Absolute path of the agent's folder. */
  directory: string;
  /** Time for the agent to finish its work, in milliseconds. */
  grace?: number;
}

/** How an agent was stopped. */
export interface Halted {
  pid: number;
  /** True if it did not end within the grace period and was killed. */
  wasKilled: boolean;
}

const usualGrace = 30_000;

/** Maximum time for the system to end a killed process, in milliseconds. */
const killing = 10_000;

const lookEvery = 50;

/**
 * Stops the agent of a folder: SIGTERM, time to drain, then SIGKILL, and removes its `serve.json`
 * (docs/contract/serve.md). Never signals a process that is not the agent. Resolves with `null` if none is running;
 * rejects with an Error if the process does not end.
 */
export async function haltAgent({
  directory,
  grace = usualGrace,
}: HaltOptions): Promise<Halted | null> {
  const sighting = await sightAgent(directory);
  const served = readServeFile(join(directory, '.service'));
  if (sighting.kind === 'missing' || served === null) return null;
  const { pid } = served;
  signalProcess(pid, 'SIGTERM');
  let wasKilled = false;
  if (!(await isGoneWithin(directory, served, grace))) {
    wasKilled = true;
    signalProcess(pid, 'SIGKILL');
    if (!(await isGoneWithin(directory, served, killing))) {
      throw new Error(`process ${pid} does not end after SIGKILL; check what blocks it`);
    }
  }
  removeServeFile(join(directory, '.service'), pid);
  removeCrashNote(directory);
  return { pid, wasKilled };
}

async function isGoneWithin(
  directory: string,
  served: ServeFile,
  milliseconds: number,
): Promise<boolean> {
  const until = performance.now() + milliseconds;
  while (performance.now() < until) {
    if (!(await isOwnProcess(directory, served))) return true;
    await wait(lookEvery);
  }
  return false;
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
