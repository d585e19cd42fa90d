import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readServeFile, removeServeFile, type ServeFile } from '../process/process.ts';
import { removeCrashNote } from './crash-note.ts';
import { isOwnProcess } from './own-process.ts';
import { sightAgent } from './sight-agent.ts';

export interface HaltOptions {
  /** The agent's folder, absolute. */
  directory: string;
  /** Milliseconds to end its work in. */
  grace?: number;
}

/** How an agent was stopped. */
export interface Halted {
  pid: number;
  /** True when it did not end by itself in time. */
  wasKilled: boolean;
}

const usualGrace = 30_000;

/** Milliseconds in which the system ends a process that it has been told to kill. */
const killing = 10_000;

const lookEvery = 50;

/**
 * Stops the agent of a folder: SIGTERM, time to drain, then SIGKILL, and its `serve.json` goes
 * (docs/contract/serve.md). A process that is not the agent is never signalled. Returns `null` when none runs; rejects
 * with an Error when the process does not end.
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
      throw new Error(`process ${pid} does not end, though it was killed; see what holds it up`);
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
