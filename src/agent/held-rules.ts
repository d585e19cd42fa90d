import { systemClock } from '../actors/clock.ts';
import type { ConfigProblem, ServiceConfig } from '../actors/config/config.ts';
import { ToolMap } from '../actors/tool-name.ts';
import {
  type ChangedConfig,
  ConfigFileError,
  planConfig,
  readConfigText,
  writeChangedConfig,
  writeConfigText,
  type YamlAddition,
} from '../actors/workspace/workspace.ts';
import { type AgentReading, readAgent } from './read-agent.ts';

/** The folder of an agent, and what is known there. */
export interface AgentPlace {
  directory: string;
  /** The variables of the agent. */
  env: NodeJS.ProcessEnv;
}

/** What makes tools of a skill wait for a person. */
export interface HeldRules {
  config: ChangedConfig;
  /** The tools for which a rule comes into `security.defer.tools`. */
  heldAdded: string[];
  /** Whom these rules ask. */
  to: string[];
  /** True when `security.defer.enabled` is turned on for them. */
  isDeferTurnedOn: boolean;
}

/** Reads the agent of a folder as it is now. Rejects with a ConfigFileError when it cannot be used. */
export async function usableAgent({
  directory,
  env,
}: AgentPlace): Promise<NonNullable<AgentReading['agent']>> {
  const { content } = await readConfigText(directory);
  const { agent, problems } = await readAgent(directory, env, systemClock(), () => null, content);
  if (agent === null) throw unusable(problems);
  return agent;
}

/** What is written beside rules that hold tools. */
export interface HeldRulesOptions {
  /** Whom the rules ask; left out, whom the first rule asks that is there, and the console otherwise. */
  to?: string;
  /** Added to `service.yaml` in the same step. */
  additions?: readonly YamlAddition[];
}

/**
 * Works out the rules that hold tools; a tool that has one keeps it. Writes nothing. Rejects with a ConfigFileError.
 */
export async function planHeldRules(
  directory: string,
  { security: { defer } }: ServiceConfig,
  held: readonly string[],
  { to: asked, additions = [] }: HeldRulesOptions = {},
): Promise<HeldRules> {
  const ruled = new ToolMap(Object.entries(defer.tools));
  const heldAdded = held.filter((tool) => !ruled.has(tool));
  const first = Object.values(defer.tools)[0]?.to ?? ['channel:console:*'];
  const to = asked === undefined ? first : [asked];
  const isDeferTurnedOn = held.length > 0 && !defer.enabled;
  const switching: YamlAddition = {
    ...{ kind: 'put', path: ['security', 'defer', 'enabled'], value: true },
  };
  const rules = heldAdded.map(
    (tool): YamlAddition => ({
      kind: 'put',
      path: ['security', 'defer', 'tools', tool],
      value: { to: to.length === 1 ? to[0] : to },
    }),
  );
  const config = await planConfig(directory, [
    ...additions,
    ...(isDeferTurnedOn ? [switching] : []),
    ...rules,
  ]);
  return { config, heldAdded, to, isDeferTurnedOn };
}

/**
 * Writes rules for tools that come right after them, and returns what rolls them back. Rejects with a ConfigFileError when
 * they cannot be written, and has written nothing then.
 */
export async function writeHeldRules(
  { directory, env }: AgentPlace,
  { config, heldAdded }: Pick<HeldRules, 'config' | 'heldAdded'>,
): Promise<() => Promise<void>> {
  const early = new Set(heldAdded.map((tool) => `security.defer.tools.${tool}`));
  await writeChangedConfig(directory, config, async (folder, content) => {
    const { problems } = await readAgent(folder, env, systemClock(), () => null, content);
    return { errors: problems.filter(({ path }) => !early.has(path)) };
  });
  return () => restore(directory, config);
}

/** Puts the configuration back that was there, unless somebody has changed it since. */
async function restore(directory: string, { before, after }: ChangedConfig): Promise<void> {
  const now = await readConfigText(directory);
  if (now.content === after) await writeConfigText(directory, { content: before, etag: now.etag });
}

function unusable([problem]: readonly ConfigProblem[]): ConfigFileError {
  const reason =
    problem === undefined ? '' : `: ${problem.file}:${problem.line} ${problem.message}`;
  return new ConfigFileError(`service.yaml has problems, which come first${reason}`);
}
