import { resolve } from 'node:path';
import type { ConfigProblem } from '../actors/config/config.ts';
import type { Clock } from '../actors/ports/clock.ts';
import type { EgressRecord } from '../actors/ports/egress.ts';
import type { Ids } from '../actors/ports/ids.ts';
import { randomIds } from '../actors/random-ids.ts';
import { systemClock } from '../actors/system-clock.ts';
import { ScriptGate } from '../actors/tools/tools.ts';
import { agentEnvironment } from './agent-environment.ts';
import { fetchPolicies } from './fetch-policies.ts';
import { type AccessOptions, type AccessSettings, readAccess } from './read-access.ts';
import { type AgentReading, readAgent } from './read-agent.ts';

/** The agent's configuration does not allow a start. Each problem has a location and a remedy. */
export class ConfigError extends Error {
  readonly code = 'config_invalid';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(`${problems.length} problem${problems.length === 1 ? '' : 's'} in the configuration`);
    this.problems = problems;
  }
}

/** The start settings of an agent, resolved from its folder, the command line and the environment. */
export interface Start extends NonNullable<AgentReading['agent']>, AccessSettings {
  /** Absolute path of the agent's folder. */
  directory: string;
  warnings: ConfigProblem[];
  /** The agent's variables, including its secrets. */
  env: NodeJS.ProcessEnv;
  /** Values from the agent's secret files. They must not appear in any output. */
  secretValues: readonly string[];
  clock: Clock;
  ids: Ids;
  /** Blocks scripts until egress is open. */
  scripts: ScriptGate;
  /** Requests that were sent before the log was open. */
  hops: readonly EgressRecord[];
  /** Wall-clock time in epoch milliseconds when reading the agent's files began. */
  readAt: number;
}

/** Reads an agent's start settings without opening any resource. Throws ConfigError, StartError or SecretsError. */
export async function readStart(
  options: AccessOptions & { directory: string; passphrase?: string | null; clock?: Clock },
): Promise<Start> {
  const directory = resolve(options.directory);
  const { clock = systemClock() } = options;
  const scripts = new ScriptGate();
  const readAt = Date.now();
  const { passphrase = null } = options;
  const opened = await agentEnvironment(directory, { env: options.env, passphrase });
  const { env, values: secretValues } = opened;
  const hops = await fetchPolicies(directory, env);
  const { problems, warnings, agent } = await readAgent(directory, env, clock, () =>
    scripts.isolation(),
  );
  if (agent === null || problems.length > 0) throw new ConfigError(problems);
  for (const warning of opened.warnings) options.log.warn({}, warning);
  const access = readAccess(agent.config, {
    ...options,
    env,
    skills: agent.toolbox.skills,
  });
  return {
    ...agent,
    ...access,
    directory,
    warnings,
    env,
    secretValues,
    clock,
    ids: randomIds(),
    scripts,
    hops,
    readAt,
  };
}
