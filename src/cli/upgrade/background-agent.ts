import { join } from 'node:path';
import { readServeFile, type ServeFile } from '../../actors/process/process.ts';
import { haltAgent, launchAgent, sightAgent } from '../../actors/workspace/workspace.ts';
import { localUrl } from '../../machines/url-of.ts';
import { showProgress } from '../progress.ts';
import { ownCommand } from '../serve/own-command.ts';
import type { Session } from '../session.ts';

/** Returns the running agent of a folder; `null` if none runs. */
export async function runningAgent(directory: string): Promise<ServeFile | null> {
  const sighting = await sightAgent(directory);
  return sighting.kind === 'served' ? readServeFile(join(directory, '.service')) : null;
}

/** Stops an agent in the background. */
export async function stopAgent({ output }: Session, directory: string): Promise<void> {
  const clear = showProgress(output, 'the agent ends its work');
  await haltAgent({ directory }).finally(clear);
}

/** Starts an agent in the background with the flags of its last start; returns its address. */
export async function startAgain(
  { output, env }: Session,
  {
    directory,
    flags,
    passphrase,
  }: { directory: string; flags: readonly string[]; passphrase: string | null },
): Promise<string> {
  const clear = showProgress(output, 'the agent starts');
  const served = await launchAgent({
    directory,
    passphrase,
    command: ownCommand(env),
    flags,
  }).finally(clear);
  return localUrl(served);
}
