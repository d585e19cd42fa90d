import type { ChannelsReading } from '../actors/channels/channels.ts';
import {
  type ConfigProblem,
  loadConfig,
  parseConfig,
  readChannelFiles,
  type ServiceConfig,
} from '../actors/config/config.ts';
import type { Guardrails, Modify } from '../actors/governance/governance.ts';
import type { Clock } from '../actors/ports.ts';
import {
  createToolbox,
  missingPrograms,
  readSkills,
  type ScriptIsolation,
  type Toolbox,
} from '../actors/tools/tools.ts';
import { readGuardrails } from './agent-guardrails.ts';
import { readInstructions } from './agent-instructions.ts';
import { readWritable } from './agent-writable.ts';
import { type McpToolsSeen, mcpToolsSeen } from './mcp-tools-seen.ts';
import { namedTools } from './named-tools.ts';
import { policyDigest } from './policy-digest.ts';
import { rulesWithoutTool, unheldTools } from './ruled-tools.ts';
import { statePaths } from './state-paths.ts';

/** What an agent's folder holds, with everything that is wrong in it. */
export interface AgentReading {
  /** The agent can be started when there are none. */
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
  /** `null` when `service.yaml` cannot be used. */
  agent: {
    config: ServiceConfig;
    toolbox: Toolbox;
    /** What its MCP servers offered last. */
    seen: McpToolsSeen;
    /** The digest of its policy. */
    policySha256: string;
    guardrails: Guardrails | null;
    modify: Modify | null;
    channels: ChannelsReading;
    /** The folders that scripts may write and keep, absolute; not all of them need be there. */
    writable: readonly string[];
    /** What the model is told before anything else; empty for nothing. */
    instructions: string;
  } | null;
}

/**
 * Reads `service.yaml`, the files of the channels, the skills and the tools of a folder, and starts nothing.
 * `isolation` is asked at each call of a script; `null` is no proxy and no sandbox. `text` stands for `service.yaml` when it is given.
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
      : parseConfig(text, { file: 'service.yaml', env });
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
    ...{ directory, config, env, clock, isolation },
    state: statePaths(config),
    writable: () => folders,
  });
  const seen = mcpToolsSeen(directory, config);
  const files = readChannelFiles(directory, env, loaded);
  const writable = await readWritable(directory, loaded, toolbox.skills);
  folders = writable.folders;
  const instructions = await readInstructions(directory, loaded);
  const { guardrails, problems } = readGuardrails(
    config.security.guardrails,
    layers.guardrails,
    toolbox.skills,
  );
  // While a skill is broken its tools are missing for that reason.
  const idle =
    toolbox.problems.length > 0
      ? { problems: [], warnings: [] }
      : rulesWithoutTool(loaded, namedTools(config, toolbox, seen), seen);
  return {
    problems: [
      ...idle.problems,
      ...files.problems,
      ...writable.problems,
      ...instructions.problems,
      ...[...toolbox.problems, ...problems].map(asProblem),
    ],
    warnings: [
      ...loaded.warnings,
      ...files.warnings,
      ...writable.warnings,
      ...idle.warnings,
      ...missingPrograms(config.mcp.servers, directory).map(({ index, message }) =>
        loaded.problemAt(['mcp', 'servers', index, 'command'], message),
      ),
      ...unheldTools(config, toolbox.skills),
      ...toolbox.warnings.map(asProblem),
    ],
    agent: {
      ...{ config, toolbox, seen, guardrails, channels: files.channels },
      policySha256: policyDigest(config, toolbox.skills),
      modify: layers.modify,
      writable: writable.folders,
      instructions: instructions.text,
    },
  };
}

/** The path of the main skill is in the file that could not be read, so the usual one is taken. */
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
