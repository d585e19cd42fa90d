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

/** Receives a line for the user with the agent that was chosen by default. */
export type Tell = (line: string) => void;

/** An agent's folder, and whether it was named by the user or found in the list. */
export interface ChosenFolder {
  dir: string;
  isFound: boolean;
}

/**
 * Selects the agent for a command: the one of --dir, else the one in the current folder, else the running one
 * (docs/contract/command.md). Throws CliError with exit code 3 if there is none, and 2 if there are several.
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

/** A stopped agent counts too: a user in its folder means that agent. */
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

/** A stopping agent removes its `serve.json` first. */
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
