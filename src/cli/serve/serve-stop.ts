import { basename, resolve } from 'node:path';
import { countWaiting, haltAgent, sightAgent } from '../../actors/workspace/workspace.ts';
import { stoppedWords } from '../../machines/agent-process/stop-words.ts';
import type { CliError } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import { showProgress } from '../progress.ts';
import type { Session } from '../session.ts';
import { notRunning } from './not-running.ts';

/** `serve stop`: stops a folder's agent, which has 30 s to finish its tasks (docs/contract/serve.md). */
export async function serveStop({ output, env }: Session, dir: string): Promise<void> {
  const directory = resolve(dir);
  const waiting = await waitingAt(directory, env);
  const clear = showProgress(output, 'the agent ends its work');
  const halted = await haltAgent({ directory }).finally(clear);
  if (halted === null) throw await nothingToStop(directory);
  const { pid, wasKilled } = halted;
  const how = wasKilled ? 'did not end within 30 s and was killed' : 'has stopped';
  output.line(`the agent (process ${pid}) ${how}`);
  if (waiting !== null) output.line(plainLine(waiting.said));
  output.json({
    status: 'stopped',
    pid,
    killed: wasKilled,
    ...(waiting === null ? {} : { waiting: waiting.pending, on_restart: waiting.onRestart }),
  });
}

/**
 * Returns the number of calls waiting in an agent and their outcome after a stop; `null` if there are none or the agent
 * does not report them.
 */
async function waitingAt(directory: string, env: NodeJS.ProcessEnv) {
  const pending = await countWaiting(directory);
  if (pending === 0) return null;
  const { describeAgent } = await import('../../dashboard/workspace/describe-agent.ts');
  const { agentId, onRestart } = await describeAgent(directory, env);
  const id = agentId ?? basename(directory);
  return { pending, onRestart, said: stoppedWords({ id, pending, onRestart }) };
}

async function nothingToStop(directory: string): Promise<CliError> {
  const sighting = await sightAgent(directory);
  return notRunning(directory, sighting.kind === 'missing' ? sighting.error : null);
}
