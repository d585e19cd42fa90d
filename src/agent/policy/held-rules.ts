import { type ConfigProblem, holdingRules } from '../../actors/config/config.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { ToolMap } from '../../actors/tool-name.ts';
import {
  type AgentText,
  type ChangedConfig,
  ConfigFileError,
  planConfig,
  readAgentText,
  writeChangedConfig,
  type YamlEdit,
} from '../../actors/workspace/workspace.ts';
import { type AgentReading, readAgent } from '../start/read-agent.ts';

/** The folder of an agent and its environment. */
export interface AgentPlace {
  directory: string;
  env: NodeJS.ProcessEnv;
}

/** The rules that hold the tools of a skill. */
export interface HeldRules {
  config: ChangedConfig;
  /** Tools that get a new rule in `security.defer.tools`. */
  heldAdded: string[];
  /** The approvers named by these rules. */
  to: string[];
  /** True if `security.defer.enabled` is switched on for these rules. */
  isDeferTurnedOn: boolean;
}

/** The current agent in a folder, and the text that it was read from. */
export type UsableAgent = NonNullable<AgentReading['agent']> & { text: AgentText };

/**
 * Reads the current agent in a folder, from its `text` if that has been read. Rejects with ConfigFileError if it is
 * invalid.
 */
export async function usableAgent(
  { directory, env }: AgentPlace,
  given?: AgentText,
): Promise<UsableAgent> {
  const text = given ?? (await readAgentText(directory));
  const { content } = text;
  const { agent, problems } = await readAgent(directory, env, systemClock(), () => null, content);
  if (agent === null) throw unusable(problems);
  return { ...agent, text };
}

/** Optional settings written together with hold rules. */
export interface HeldRulesOptions {
  /** The approver of the rules. Defaults to the approver of the first existing rule, or the console. */
  to?: string;
  /** Entries added to `service.yaml` in the same write. */
  additions?: readonly YamlEdit[];
}

/**
 * Computes the rules that hold the given tools. A tool that already has a rule keeps it. Writes nothing. Throws
 * ConfigFileError.
 */
export function planHeldRules(
  { text, config: service }: Pick<UsableAgent, 'text' | 'config'>,
  held: readonly string[],
  { to: asked, additions = [] }: HeldRulesOptions = {},
): HeldRules {
  const { defer } = service.security;
  const ruled = new ToolMap(Object.entries(defer.tools));
  const heldAdded = held.filter((tool) => !ruled.has(tool));
  const first = holdingRules(defer.tools)[0]?.rule.to ?? ['channel:console:*'];
  const to = asked === undefined ? first : [asked];
  const isDeferTurnedOn = held.length > 0 && !defer.enabled;
  const switching: YamlEdit = {
    kind: 'put',
    path: ['security', 'defer', 'enabled'],
    value: true,
  };
  const rules = heldAdded.map(
    (tool): YamlEdit => ({
      kind: 'put',
      path: ['security', 'defer', 'tools', tool],
      value: { to: to.length === 1 ? to[0] : to },
    }),
  );
  const config = planConfig(text, [
    ...additions,
    ...(isDeferTurnedOn ? [switching] : []),
    ...rules,
  ]);
  return { config, heldAdded, to, isDeferTurnedOn };
}

/**
 * Writes rules for tools that are about to be added, and returns the text as written; `revertConfig` rolls them back.
 * Rejects with ConfigFileError if they cannot be written; nothing has been written in that case.
 */
export function writeHeldRules(
  { env }: Pick<AgentPlace, 'env'>,
  { config, heldAdded }: Pick<HeldRules, 'config' | 'heldAdded'>,
): Promise<AgentText> {
  const early = new Set(heldAdded.map((tool) => `security.defer.tools.${tool}`));
  return writeChangedConfig(config, async (folder, content) => {
    const { problems } = await readAgent(folder, env, systemClock(), () => null, content);
    return { errors: problems.filter(({ path }) => !early.has(path)) };
  });
}

function unusable([problem]: readonly ConfigProblem[]): ConfigFileError {
  const reason =
    problem === undefined ? '' : `: ${problem.file}:${problem.line} ${problem.message}`;
  return new ConfigFileError(`service.yaml has problems, which come first${reason}`);
}
