import { realpath } from 'node:fs/promises';
import { closest } from 'fastest-levenshtein';
import type { JsonObject } from '../../machines/json.ts';
import type { Tool } from '../ports/tool.ts';
import { findProgram } from '../process/process.ts';
import { normalName } from '../tool-name.ts';
import { agentFiles } from './builtin/agent-files.ts';
import { builtinToolNames, builtinTools } from './builtin/builtin-tools.ts';
import { searchService } from './builtin/search-service.ts';
import { skillTools } from './builtin/skill-tools.ts';
import type { ToolConfig } from './builtin/tool-config.ts';
import { isMcpToolName } from './mcp/mcp-names.ts';
import { serverCode } from './mcp/server-code.ts';
import { missingInterpreters } from './scripts/interpreter.ts';
import type { ScriptDependencies } from './scripts/run-isolated.ts';
import { scriptTool } from './scripts/script-tool.ts';
import { type Disclosure, disclosesProgressively } from './skills/disclosure.ts';
import {
  missingRequirements,
  readSkills,
  type ScriptDefinition,
  type Skill,
  type SkillProblem,
  variableOfHost,
} from './skills/skills.ts';

/** The settings of `service.yaml` that select tools. */
export interface ToolSettings {
  builtin_tools: readonly string[];
  tools: readonly { name: string; idempotent: boolean; config?: ToolConfig }[];
  skills: { path: string; disclosure?: Disclosure | undefined };
  /** The MCP servers, whose tools are added later. */
  mcp?: {
    servers: readonly { name: string; command?: string | undefined; args?: readonly string[] }[];
  };
  instructions?: string | { file: string };
}

/** The tools and skills of an agent; it should not start if there are problems. */
export interface Toolbox {
  tools: Map<string, Tool>;
  skills: Skill[];
  /** True if the model receives the names of the skills and opens them with a tool. */
  isProgressive: boolean;
  problems: SkillProblem[];
  warnings: SkillProblem[];
}

/** Keys not listed here are passed to the tools. */
export interface ToolboxInput extends Omit<ScriptDependencies, 'agentDirectory'> {
  directory: string;
  config: ToolSettings;
  /** Paths of its state, such as the store, which tools must not see; absolute or relative to its folder. */
  state?: readonly string[];
  /**
   * Returns the folders to which its tools may write, absolute with links resolved; called for each call. None when
   * absent.
   */
  writable?: () => readonly string[];
}

/**
 * Collects an agent's builtin tools and the script tools of its skills, and checks their requirements.
 *
 * A tool may run again with the same call id if the tool, its skill or `tools[].idempotent` allows it. Hyphens and
 * underscores in tool names are equivalent, so that a rule for one name cannot be bypassed through the other.
 */
export async function createToolbox(input: ToolboxInput): Promise<Toolbox> {
  const { directory, config, state = [], writable = () => [], ...given } = input;
  const agentDirectory = await realpath(directory);
  const dependencies = { ...given, agentDirectory };
  const read = await readSkills(directory, { mainPath: config.skills.path });
  const skills = read.skills.map((skill) => withHosts(skill, input.env));
  const isProgressive = disclosesProgressively(config.skills.disclosure, skills);
  const toolbox: Toolbox = { ...read, skills, isProgressive, tools: new Map() };
  const known = config.builtin_tools.filter((name) => builtinToolNames.includes(name));
  toolbox.problems.push(...unknownBuiltins(config.builtin_tools));
  const add = (tool: Tool) => toolbox.tools.set(tool.name, withSetting(tool, config.tools));
  const files = await agentFiles({
    directory: agentDirectory,
    state: ['.service', ...state],
    code: codeOf(config, skills),
    writable,
  });
  const settings = (tool: string) => settingsOf(tool, config.tools);
  for (const tool of builtinTools(known, { ...dependencies, files, settings })) {
    const configured = settings(tool.name);
    const identity = async () => ({
      config: definedOf(configured),
      runs: (await tool.identity?.()) ?? null,
    });
    add({ ...tool, identity });
  }
  if (isProgressive) for (const tool of skillTools(skills, files)) add(tool);
  const builtins = new Set([...toolbox.tools.keys()].map(normalName));
  const taken = new Set(builtins);
  for (const definition of skills.flatMap((skill) => skill.tools)) {
    const name = normalName(definition.name);
    if (builtins.has(name)) {
      toolbox.problems.push(namedLikeBuiltin(definition));
    } else if (!taken.has(name)) add(scriptTool(definition, dependencies));
    taken.add(name);
  }
  toolbox.problems.push(...missingInterpreters(skills.flatMap((skill) => skill.tools)));
  toolbox.problems.push(...skills.flatMap((skill) => unmet(skill, input.env)));
  toolbox.problems.push(...unmetByTools(known, settings, input.env));
  toolbox.warnings.push(...unusedSettings(config, [...toolbox.tools.keys()]));
  return toolbox;
}

function definedOf(config: ToolConfig): JsonObject {
  return JSON.parse(JSON.stringify(config)) as JsonObject;
}

function withSetting(tool: Tool, settings: ToolSettings['tools']): Tool {
  const isDeclared = settings.some(
    ({ name, idempotent }) => idempotent && normalName(name) === normalName(tool.name),
  );
  return isDeclared ? { ...tool, idempotent: true } : tool;
}

/** Returns the skills, scripts, MCP servers and instructions of an agent, and their folders. */
function codeOf(config: ToolSettings, skills: readonly Skill[]): string[] {
  const { instructions = '' } = config;
  return [
    ...['skills', 'scripts', config.skills.path],
    ...(typeof instructions === 'string' ? [] : [instructions.file]),
    ...serverCode(config.mcp?.servers ?? []),
    ...skills.flatMap(({ file, tools }) => [
      file,
      ...tools.flatMap(({ code }) => [...code.keys()]),
    ]),
  ];
}

function settingsOf(tool: string, settings: ToolSettings['tools']): ToolConfig {
  return settings.find(({ name }) => normalName(name) === normalName(tool))?.config ?? {};
}

/** Reports missing requirements of individual builtin tools, so that they are known before a call fails. */
function unmetByTools(
  names: readonly string[],
  settings: (tool: string) => ToolConfig,
  env: ToolboxInput['env'],
): SkillProblem[] {
  const key = searchService(settings('web_search')).keyVariable;
  const isKeyMissing = names.includes('web_search') && (env[key] ?? '') === '';
  const programs = names.includes('cli_execute') ? (settings('cli_execute').commands ?? []) : [];
  return [
    ...(isKeyMissing ? [`web_search needs the environment variable ${key}; set it`] : []),
    ...programs
      .filter((program) => findProgram(program) === null)
      .map(
        (program) =>
          `cli_execute may run ${program}, which is not installed; install it or take it out of config.commands`,
      ),
  ].map(inSettings);
}

function unmet(skill: Skill, env: ToolboxInput['env']): SkillProblem[] {
  return missingRequirements(skill, env, (name) => findProgram(name)).map((message) => ({
    message,
    file: skill.file,
    line: 1,
    column: 1,
  }));
}

/** Replaces each variable in the hosts of a skill by the hosts that it names; an unset one names none. */
function withHosts(skill: Skill, env: ToolboxInput['env']): Skill {
  const egressDomains = skill.egressDomains.flatMap((entry) => {
    const variable = variableOfHost(entry);
    if (variable === null) return [entry];
    const hosts = (env[variable] ?? '').split(',').map((host) => host.trim());
    return hosts.filter((host) => host !== '');
  });
  return { ...skill, egressDomains };
}

function namedLikeBuiltin({ name, file, line }: ScriptDefinition): SkillProblem {
  const message = `tool ${name} has the name of a builtin tool; rename it or leave the builtin out`;
  return { message, file, line, column: 1 };
}

function unknownBuiltins(names: readonly string[]): SkillProblem[] {
  return names
    .filter((name) => !builtinToolNames.includes(name))
    .map((name) =>
      inSettings(
        `builtin_tools: ${name} is not a builtin tool; the nearest is ${closest(name, builtinToolNames)}`,
      ),
    );
}

function unusedSettings({ tools, mcp }: ToolSettings, names: string[]): SkillProblem[] {
  const known = new Set(names.map(normalName));
  return tools
    .filter(({ name }) => !known.has(normalName(name)))
    .filter(({ name }) => !isMcpToolName(name, mcp?.servers ?? []))
    .map(({ name }) => {
      const hint = names.length > 0 ? `; the nearest is ${closest(name, names)}` : '';
      return inSettings(`tools: the agent has no tool ${name}${hint}`);
    });
}

function inSettings(message: string): SkillProblem {
  return { message, file: 'service.yaml', line: 1, column: 1 };
}
