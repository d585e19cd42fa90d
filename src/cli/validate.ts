import { resolve } from 'node:path';
import { systemClock } from '../actors/clock.ts';
import type { ConfigProblem, ServiceConfig } from '../actors/config/config.ts';
import { namedTools } from '../agent/named-tools.ts';
import { type AgentReading, readAgent } from '../agent/read-agent.ts';
import { heldTools } from '../agent/ruled-tools.ts';
import { unlistedHosts } from '../agent/unlisted-hosts.ts';
import { asJson, configFailure } from './config-failure.ts';
import { printWarnings } from './config-warnings.ts';
import { plainLine } from './plain-text.ts';
import { warnOfPolicyGap } from './policy-warning.ts';
import { environmentOf } from './secret-access.ts';
import type { Session } from './session.ts';

export interface ValidateOptions {
  dir: string;
}

/** The result of checking an agent's files. Without problems, the agent can start. */
export interface Findings {
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
  /** `null` if `service.yaml` is invalid. */
  config: ServiceConfig | null;
  /** The channel settings; `null` if `config` is `null`. */
  channels: NonNullable<AgentReading['agent']>['channels'] | null;
  /** The policy digest; `null` if the policy is invalid. */
  policySha256: string | null;
  /** Sorted names. */
  skills: string[];
  /** Tools of MCP servers are included as last seen, or as listed in `allow`. */
  tools: string[];
  /** MCP servers that have never been reached. */
  unknownServers: string[];
}

/** `validate`: checks `service.yaml` and the skills, and lists every problem with its location. */
export async function validate(session: Session, { dir }: ValidateOptions): Promise<void> {
  const { output } = session;
  const env = await environmentOf(session, resolve(dir));
  const directory = resolve(dir);
  const { problems, warnings, config, skills, tools, unknownServers, policySha256 } =
    await checkAgent(directory, env);
  const gap = warnOfPolicyGap(output, directory, policySha256);
  printWarnings(output, warnings);
  if (config === null || problems.length > 0) throw configFailure(problems, warnings);
  const held = heldTools(config, tools);
  const skillCount = skills.length === 1 ? '1 skill' : `${skills.length} skills`;
  output.line(`service.yaml and ${skillCount} are valid`);
  output.line(`  agent  ${config.agent_id} ${config.version}`);
  output.line(`  model  ${config.model.provider} ${config.model.name}`.trimEnd());
  output.line(`  tools  ${tools.join(', ') || 'none'}`);
  for (const server of unknownServers) {
    output.line(
      plainLine(`  mcp    the tools of ${server} are not known until the agent has reached it`),
    );
  }
  output.line(`  held   ${held.join(', ') || 'none'}`);
  output.json({ valid: true, problems: [], warnings: warnings.map(asJson), ...gap });
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
