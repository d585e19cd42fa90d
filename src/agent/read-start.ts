import { resolve } from 'node:path';
import { systemClock } from '../actors/clock.ts';
import type { ConfigProblem } from '../actors/config/config.ts';
import { randomIds } from '../actors/ids.ts';
import type { Clock, Ids } from '../actors/ports.ts';
import { ScriptGate } from '../actors/tools/tools.ts';
import { agentEnvironment } from './agent-environment.ts';
import { type AccessOptions, type AccessSettings, readAccess } from './read-access.ts';
import { type AgentReading, readAgent } from './read-agent.ts';

/** The agent cannot be started as it is configured; each problem says where and what to do. */
export class ConfigError extends Error {
  readonly code = 'config_invalid';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(`${problems.length} problem${problems.length === 1 ? '' : 's'} in the configuration`);
    this.problems = problems;
  }
}

/** What an agent is started with, as its folder, the command line and the environment settle it. */
export interface Start extends NonNullable<AgentReading['agent']>, AccessSettings {
  /** The agent's folder, absolute. */
  directory: string;
  warnings: ConfigProblem[];
  /** The variables it is configured with, its secrets among them. */
  env: NodeJS.ProcessEnv;
  /** Values that came from its files of secrets and must show nowhere. */
  secretValues: readonly string[];
  clock: Clock;
  ids: Ids;
  /** Keeps scripts from running before egress is open. */
  scripts: ScriptGate;
  /** Epoch milliseconds of the wall clock at which reading the agent's files began. */
  readAt: number;
}

/** Reads what an agent is started with, and opens nothing. Throws ConfigError, StartError or SecretsError. */
export async function readStart(
  options: AccessOptions & { directory: string; passphrase?: string | null },
): Promise<Start> {
  const directory = resolve(options.directory);
  const clock = systemClock();
  const scripts = new ScriptGate();
  const readAt = Date.now();
  const { passphrase = null } = options;
  const opened = await agentEnvironment(directory, { env: options.env, passphrase });
  const { env, values: secretValues } = opened;
  const { problems, warnings, agent } = await readAgent(directory, env, clock, () =>
    scripts.isolation(),
  );
  if (agent === null || problems.length > 0) throw new ConfigError(problems);
  for (const warning of opened.warnings) options.log.warn({}, warning);
  const access = readAccess(agent.config, { ...options, env });
  return {
    ...{ ...agent, ...access, directory, warnings, env, secretValues },
    ...{ clock, ids: randomIds(), scripts, readAt },
  };
}
