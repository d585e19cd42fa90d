import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  type ConfigProblem,
  digestOf,
  includeReader,
  includeUrl,
  keptPolicyPath,
  loadConfig,
  type ServiceConfig,
} from '../../actors/config/config.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { EgressRecord } from '../../actors/ports/egress.ts';
import type { Ids } from '../../actors/ports/ids.ts';
import { writePrivately } from '../../actors/process/process.ts';
import { randomIds } from '../../actors/random-ids.ts';
import { largestSettingsFile } from '../../actors/read-regular-file.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { ScriptGate } from '../../actors/tools/tools.ts';
import { messageOf } from '../../machines/message-of.ts';
import { agentEnvironment } from './agent-environment.ts';
import { fetchFile } from './fetch-file.ts';
import { type AccessOptions, type AccessSettings, readAccess, StartError } from './read-access.ts';
import { type AgentReading, readAgent } from './read-agent.ts';

type UrlEntry = Exclude<ServiceConfig['security']['policy']['include'][number], string>;

/** Most policies that may include each other. */
const mostRounds = 8;

const patience = 10_000;

/**
 * Fetches the included policies of which no copy is kept, under the egress rules of the agent, and keeps them. Returns
 * the hops, which are recorded when the log is open. Throws StartError.
 */
async function fetchPolicies(directory: string, env: NodeJS.ProcessEnv): Promise<EgressRecord[]> {
  const hops: EgressRecord[] = [];
  for (let round = 0; round < mostRounds; round += 1) {
    const { config, missing } = missingIn(directory, env);
    if (config === null || missing.length === 0) return hops;
    for (const entry of missing) {
      const text = await fetched(entry, { directory, config, record: (hop) => hops.push(hop) });
      const path = join(directory, keptPolicyPath(entry.sha256));
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writePrivately(path, text);
    }
  }
  return hops;
}

/** Returns the policies without a usable copy; a configuration with problems is reported later. */
function missingIn(
  directory: string,
  env: NodeJS.ProcessEnv,
): { config: ServiceConfig | null; missing: UrlEntry[] } {
  const missing: UrlEntry[] = [];
  const read = includeReader(directory);
  const loaded = loadConfig(directory, env, (entry, from) => {
    const found = read(entry, from);
    const url = typeof entry === 'string' ? null : includeUrl(entry.url);
    if (found.ok || typeof entry === 'string' || url === null) return found;
    missing.push(entry);
    return { ok: true, text: 'security: {}', file: entry.sha256, path: null };
  });
  return { config: loaded.ok ? loaded.config : null, missing };
}

async function fetched(
  { url: address, sha256 }: UrlEntry,
  parts: { directory: string; config: ServiceConfig; record: (hop: EgressRecord) => void },
): Promise<string> {
  const url = new URL(address);
  try {
    const source = { source: 'security.policy.include', longest: largestSettingsFile, patience };
    const bytes = await fetchFile(url, { ...parts, ...source });
    const found = digestOf(bytes);
    if (found !== sha256) throw new Error(`its SHA-256 is ${found}, not ${sha256}`);
    return bytes.toString('utf8');
  } catch (error) {
    const name = url.origin + url.pathname;
    throw new StartError(`the included policy ${name} cannot be fetched: ${messageOf(error)}`);
  }
}

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
