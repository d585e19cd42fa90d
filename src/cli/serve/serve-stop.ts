import { resolve } from 'node:path';
import { haltAgent, sightAgent } from '../../actors/workspace/workspace.ts';
import type { CliError } from '../cli-error.ts';
import { showProgress } from '../progress.ts';
import type { Session } from '../session.ts';
import { notRunning } from './not-running.ts';

/** `serve stop`: stops the agent of a folder, which is given 30 s to end its work (contract section 15). */
export async function serveStop({ output }: Session, dir: string): Promise<void> {
  const directory = resolve(dir);
  const clear = showProgress(output, 'the agent ends its work');
  const halted = await haltAgent({ directory }).finally(clear);
  if (halted === null) throw await nothingToStop(directory);
  const { pid, wasKilled } = halted;
  const how = wasKilled ? 'did not end within 30 s and was killed' : 'has stopped';
  output.line(`the agent (process ${pid}) ${how}`);
  output.json({ status: 'stopped', pid, killed: wasKilled });
}

async function nothingToStop(directory: string): Promise<CliError> {
  const sighting = await sightAgent(directory);
  return notRunning(directory, sighting.kind === 'missing' ? sighting.error : null);
}
