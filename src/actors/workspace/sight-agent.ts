import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Sighting } from '../../machines/agent-process/agent-process-machine.ts';
import type { ServedAgent } from '../../machines/agent-process/served-agent.ts';
import { readServeFile, removeServeFile, type ServeFile } from '../process/process.ts';
import { readCrashNote, removeCrashNote, writeCrashNote } from './crash-note.ts';
import { isOwnProcess } from './own-process.ts';
import { crashOf } from './serve-log.ts';

/**
 * Determines whether the agent of a folder is running. Removes a `serve.json` whose process has ended or is not the
 * agent (docs/contract/serve.md); the process's last error is recorded as the reason of its crash.
 */
export async function sightAgent(directory: string): Promise<Sighting> {
  const stateFolder = join(directory, '.service');
  if (!isFolder(stateFolder)) return { kind: 'missing', error: null };
  const served = readServeFile(stateFolder);
  if (served === null) return { kind: 'missing', error: readCrashNote(directory) };
  if (await isOwnProcess(directory, served)) {
    removeCrashNote(directory);
    return { kind: 'served', served: servedAgent(served) };
  }
  const failure = crashOf(directory, served.pid);
  // The agent may have been stopped or restarted during the check.
  if (readServeFile(stateFolder)?.pid !== served.pid) return sightAgent(directory);
  if (failure !== null) writeCrashNote(directory, failure);
  removeServeFile(stateFolder, served.pid);
  return { kind: 'missing', error: readCrashNote(directory) };
}

/** Converts a `serve.json` to the data of the process chart. */
export function servedAgent({
  pid,
  host,
  port,
  started_at: startedAt,
  policy_sha256: policySha256,
  policy_reload: policyReload,
  policy_problem: policyProblem,
  policy_needs_restart: policyNeedsRestart,
}: ServeFile): ServedAgent {
  return {
    pid,
    host,
    port,
    startedAt,
    ...(policySha256 === undefined ? {} : { policySha256 }),
    ...(policyReload === undefined ? {} : { policyReload }),
    ...(policyProblem === undefined ? {} : { policyProblem }),
    ...(policyNeedsRestart === undefined ? {} : { policyNeedsRestart }),
  };
}

/** A link could lead to the state of another agent. */
function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
