import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine } from '../actors/command-line.ts';
import {
  isAlive,
  type ListedAgent,
  readServeFile,
  runningAgents,
  StateFolderError,
} from '../actors/process/process.ts';
import { shellWord } from '../machines/shell-word.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { plainLine } from './plain-text.ts';

/** Hears, in a line for people, which agent was found where none was named. */
export type Tell = (line: string) => void;

/** An agent's folder, and whether the user named it or the list did. */
export interface ChosenFolder {
  dir: string;
  isFound: boolean;
}

/**
 * Settles which agent a command means: the one of --dir, else that of the current folder when one is there, else the
 * one that runs (docs/contract/command.md). Throws a CliError that ends in 3 when none does, in 2 when several do.
 */
export function chooseFolder(
  dir: string | undefined,
  env: NodeJS.ProcessEnv,
  tell: Tell,
): ChosenFolder {
  if (dir !== undefined) return { dir, isFound: false };
  if (isAgentFolder('.')) return { dir: '.', isFound: false };
  const running = listedAgents(env).filter(isServing);
  const [only, ...others] = running;
  if (only === undefined) throw noneRuns();
  if (others.length > 0) throw severalRun(running);
  tell(plainLine(`the agent is ${only.agent_id} in ${only.directory}`));
  return { dir: only.directory, isFound: true };
}

/** An agent that does not run counts too: a user in its folder means no other. */
function isAgentFolder(folder: string): boolean {
  return ['service.yaml', '.service'].some((name) => existsSync(join(folder, name)));
}

function listedAgents(env: NodeJS.ProcessEnv): ListedAgent[] {
  try {
    return runningAgents(env);
  } catch (error) {
    if (!(error instanceof StateFolderError)) throw error;
    throw new CliError(`the list of running agents is not trusted: ${error.message}`, {
      code: error.code,
      hint: 'or name the agent with --dir',
      cause: error,
    });
  }
}

/** An agent that ends takes its `serve.json` away first. */
function isServing({ directory, pid }: ListedAgent): boolean {
  return readServeFile(join(directory, '.service'))?.pid === pid && isAlive(pid);
}

function noneRuns(): CliError {
  return new CliError('no agent runs here, nor elsewhere as this user', {
    code: 'not_running',
    exitCode: exitCodes.notFound,
    hint: `start one with: ${commandLine('run --dir DIR')}, or name one with --dir or --url`,
  });
}

function severalRun(running: readonly ListedAgent[]): CliError {
  const agents = running
    .map(({ agent_id, url, directory }) => ({ agent_id, url, directory }))
    .toSorted((one, other) => one.directory.localeCompare(other.directory));
  return new CliError(`${agents.length} agents run as this user`, {
    code: 'several_agents',
    exitCode: exitCodes.usage,
    hint: `name one with --dir, such as --dir ${shellWord(agents[0]?.directory ?? 'DIR')}`,
    lines: agents.map(({ agent_id, url, directory }) =>
      plainLine(`  ${agent_id}  ${url}  ${shellWord(directory)}`),
    ),
    details: { agents },
  });
}
