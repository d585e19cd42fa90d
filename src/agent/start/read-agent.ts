import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ChannelsReading } from '../../actors/channels/channels.ts';
import {
  type ConfigProblem,
  type ConfigReading,
  includeReader,
  loadConfig,
  parseConfig,
  readChannelFiles,
  readPeople,
  type ServiceConfig,
  unknownApprovers,
  unknownViewers,
} from '../../actors/config/config.ts';
import type { Guardrails, Modify } from '../../actors/governance/governance.ts';
import type { People } from '../../actors/people/people.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import { findProgram } from '../../actors/process/process.ts';
import {
  createToolbox,
  elicitationTool,
  GateTools,
  gateProblems,
  hiddenFromServers,
  missingPrograms,
  readSkills,
  type ScriptIsolation,
  type Toolbox,
} from '../../actors/tools/tools.ts';
import { readGuardrails } from '../policy/agent-guardrails.ts';
import { boundProblems, historyBounds } from '../policy/bound-problems.ts';
import { namedTools } from '../policy/named-tools.ts';
import { openAllowances, unaskedTools } from '../policy/open-allowances.ts';
import { policyDigest } from '../policy/policy-digest.ts';
import { conditionProblems, groupWarnings, pathWarnings } from '../policy/rule-conditions.ts';
import { rulesWithoutTools, unheldTools } from '../policy/ruled-tools.ts';
import { viewsWithoutTools } from '../policy/views-without-tools.ts';
import { readInstructions } from './agent-instructions.ts';
import { readWritable } from './agent-writable.ts';
import { type McpToolsSeen, mcpToolsSeen } from './mcp-tools-seen.ts';
import { statePaths } from './state-paths.ts';

/** The contents of an agent's folder and every problem found in them. */
export interface AgentReading {
  /** Empty if the agent can be started. */
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
  /** `null` if `service.yaml` is invalid. */
  agent: {
    config: ServiceConfig;
    toolbox: Toolbox;
    /** The tools that the agent's MCP servers offered last. */
    seen: McpToolsSeen;
    policySha256: string;
    guardrails: Guardrails | null;
    modify: Modify | null;
    channels: ChannelsReading;
    people: People;
    /** Absolute paths of the folders that scripts may write to persistently. Some may not exist yet. */
    writable: readonly string[];
    /** The model's system instructions; empty for none. */
    instructions: string;
  } | null;
}

/**
 * Reads `service.yaml`, the channel files, the skills and the tools of a folder without starting them. `isolation` is
 * called before every script run; `null` means no proxy and no sandbox. If `text` is given, it replaces the contents of
 * `service.yaml`.
 */
export async function readAgent(
  directory: string,
  env: NodeJS.ProcessEnv,
  clock: Clock,
  isolation: () => ScriptIsolation | null = () => null,
  text?: string,
): Promise<AgentReading> {
  const loaded =
    text === undefined
      ? loadConfig(directory, env)
      : parseConfig(text, { file: 'service.yaml', env, readInclude: includeReader(directory) });
  if (!loaded.ok) {
    const skills = await readSkillsAnyway(directory);
    return {
      problems: [...loaded.problems, ...skills.problems.map(asProblem)],
      warnings: [...loaded.warnings, ...skills.warnings.map(asProblem)],
      agent: null,
    };
  }
  const { config, layers } = loaded;
  let folders: readonly string[] = [];
  const toolbox = await createToolbox({
    directory,
    config,
    env,
    clock,
    isolation,
    state: statePaths(config),
    writable: () => folders,
  });
  if (config.gate !== undefined) toolbox.tools = new GateTools(config.gate);
  for (const { name, elicitation } of config.mcp.servers) {
    const tool = elicitationTool(name);
    if (elicitation === 'ask') toolbox.tools.set(tool.name, tool);
  }
  const seen = mcpToolsSeen(directory, config);
  const files = readChannelFiles(directory, env, loaded);
  const { people, ...peopleFindings } = readPeople(directory, env);
  const writable = await readWritable(directory, loaded, toolbox.skills);
  folders = writable.folders;
  const instructions = await readInstructions(directory, loaded);
  const { guardrails, problems } = readGuardrails(
    config.security.guardrails,
    layers.guardrails,
    toolbox.skills,
  );
  // Tools of a broken skill are missing only because the skill is broken.
  const idle =
    toolbox.problems.length > 0
      ? { problems: [], warnings: [] }
      : rulesWithoutTools(loaded.policies, namedTools(config, toolbox, seen), seen);
  const own = { config, problemAt: loaded.problemAt };
  const views =
    toolbox.problems.length > 0
      ? { problems: [], warnings: [] }
      : viewsWithoutTools(own, namedTools(config, toolbox, seen), seen);
  return {
    problems: [
      ...idle.problems,
      ...views.problems,
      ...loaded.policies.flatMap((policy) => conditionProblems(policy, toolbox.tools)),
      ...loaded.policies.flatMap((policy) => boundProblems(policy, toolbox.tools)),
      ...gateProblems(config.gate ?? { tools: {} }).map(({ tool, message }) =>
        loaded.problemAt(['gate', 'tools', tool, 'schema'], message),
      ),
      ...files.problems,
      ...peopleFindings.problems,
      ...(peopleFindings.problems.length > 0
        ? []
        : [
            ...loaded.policies.flatMap((policy) => unknownApprovers(policy, people, config)),
            ...unknownViewers(own, people, config),
          ]),
      ...writable.problems,
      ...instructions.problems,
      ...[...toolbox.problems, ...problems].map(asProblem),
    ],
    warnings: [
      ...loaded.warnings,
      ...files.warnings,
      ...peopleFindings.warnings,
      ...writable.warnings,
      ...idle.warnings,
      ...views.warnings,
      ...missingPrograms(config.mcp.servers, directory).map(({ index, message }) =>
        loaded.problemAt(['mcp', 'servers', index, 'command'], message),
      ),
      ...(await hiddenFileWarnings(directory, loaded, writable.folders)),
      ...unheldTools(config, toolbox.skills),
      ...loaded.policies.flatMap(groupWarnings),
      ...loaded.policies.flatMap(historyBounds),
      ...loaded.policies.flatMap((policy) => openAllowances(policy, toolbox.tools)),
      ...unaskedTools(own),
      ...loaded.policies.flatMap(pathWarnings),
      ...toolbox.warnings.map(asProblem),
    ],
    agent: {
      config,
      toolbox,
      seen,
      guardrails,
      channels: files.channels,
      people,
      policySha256: policyDigest(config, toolbox.skills),
      modify: layers.modify,
      writable: writable.folders,
      instructions: instructions.text,
    },
  };
}

/** The path of the main skill is in the unreadable file, so the default path is used. */
async function readSkillsAnyway(directory: string) {
  try {
    return await readSkills(directory);
  } catch {
    return { problems: [], warnings: [] };
  }
}

function asProblem(problem: Omit<ConfigProblem, 'path'>): ConfigProblem {
  return { path: '', ...problem };
}

/**
 * Warns of each file on the command line of an MCP server that the sandbox hides. With `auto`, a machine without
 * bubblewrap hides nothing.
 */
async function hiddenFileWarnings(
  directory: string,
  { config, problemAt }: Extract<ConfigReading, { ok: true }>,
  writable: readonly string[],
): Promise<ConfigProblem[]> {
  const { sandbox } = config.egress;
  if (sandbox === 'env' || (sandbox === 'auto' && findProgram('bwrap') === null)) return [];
  const agentDirectory = await realpath(directory);
  const hidden = statePaths(config).map((path) => resolve(agentDirectory, path));
  const found = await hiddenFromServers(config.mcp.servers, { agentDirectory, hidden, writable });
  return found.map(({ index, place, message }) =>
    problemAt(['mcp', 'servers', index, ...place], message),
  );
}
