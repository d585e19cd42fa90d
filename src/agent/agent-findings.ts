import type { ConfigProblem, ServiceConfig } from '../actors/config/config.ts';
import { systemClock } from '../actors/system-clock.ts';
import { namedTools } from './named-tools.ts';
import { type AgentReading, readAgent } from './read-agent.ts';
import { unlistedHosts } from './unlisted-hosts.ts';

/** The result of checking an agent's files. Without problems, the agent can start. */
export interface Findings {
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
  /** `null` if `service.yaml` is invalid. */
  config: ServiceConfig | null;
  /** The channel settings; `null` if `config` is `null`. */
  channels: NonNullable<AgentReading['agent']>['channels'] | null;
  /** Ids of the Slack user groups whose members may approve. */
  slackGroups: string[];
  /** The policy digest; `null` if the policy is invalid. */
  policySha256: string | null;
  /** Sorted names. */
  skills: string[];
  /** Tools of MCP servers are included as last seen, or as listed in `allow`. */
  tools: string[];
  /** MCP servers that have never been reached. */
  unknownServers: string[];
}

/**
 * Checks an agent's files without starting the agent. If `text` is given, it replaces the contents of `service.yaml`.
 */
export async function checkAgent(
  directory: string,
  env: NodeJS.ProcessEnv,
  text?: string,
): Promise<Findings> {
  const reading = await readAgent(directory, env, systemClock(), () => null, text);
  const { problems, warnings, agent } = reading;
  const unlisted =
    agent === null || problems.length > 0
      ? []
      : await unlistedHosts(directory, agent.config, agent.toolbox.skills);
  return {
    problems: inOrder(problems),
    warnings: inOrder([...warnings, ...unlisted]),
    config: agent?.config ?? null,
    channels: agent?.channels ?? null,
    slackGroups: Object.values(agent?.people.groups ?? {}).flatMap(({ slack }) => slack ?? []),
    policySha256: problems.length > 0 ? null : (agent?.policySha256 ?? null),
    skills: (agent?.toolbox.skills ?? []).map(({ id }) => id).toSorted(),
    unknownServers: [...(agent?.seen ?? [])].flatMap(([name, known]) =>
      known === null ? [name] : [],
    ),
    tools: agent === null ? [] : namedTools(agent.config, agent.toolbox, agent.seen).toSorted(),
  };
}

function inOrder(problems: ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted(
    (one, other) =>
      one.file.localeCompare(other.file) || one.line - other.line || one.column - other.column,
  );
}
