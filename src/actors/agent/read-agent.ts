import { closest } from 'fastest-levenshtein';
import type { ChannelsReading } from '../channels/channels.ts';
import {
  type ConfigReading,
  loadConfig,
  type Problem,
  readChannelFiles,
  type ServiceConfig,
} from '../config/config.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { Clock } from '../ports.ts';
import { normalName, readSkills } from '../skills/skills.ts';
import { createToolbox, type ScriptIsolation, type Toolbox } from '../tools/tools.ts';
import { readGuardrails } from './agent-guardrails.ts';
import { readWritable } from './agent-writable.ts';

/** What an agent's folder holds, with everything that is wrong in it. */
export interface AgentReading {
  /** The agent can be started when there are none. */
  problems: Problem[];
  warnings: Problem[];
  /** `null` when `service.yaml` cannot be used. */
  agent: {
    config: ServiceConfig;
    toolbox: Toolbox;
    guardrails: Guardrails | null;
    channels: ChannelsReading;
    /** The folders that scripts may write and keep, absolute; not all of them need be there. */
    writable: readonly string[];
  } | null;
}

/**
 * Reads `service.yaml`, the files of the channels, the skills and the tools of a folder, and starts nothing.
 * `isolation` is asked at each call of a script; `null` is no proxy and no sandbox.
 */
export async function readAgent(
  directory: string,
  env: NodeJS.ProcessEnv,
  clock: Clock,
  isolation: () => ScriptIsolation | null = () => null,
): Promise<AgentReading> {
  const loaded = loadConfig(directory, env);
  if (!loaded.ok) {
    const skills = await readSkillsAnyway(directory);
    return {
      problems: [...loaded.problems, ...skills.problems.map(asProblem)],
      warnings: [...loaded.warnings, ...skills.warnings.map(asProblem)],
      agent: null,
    };
  }
  const { config } = loaded;
  const toolbox = await createToolbox({ directory, config, env, clock, isolation });
  const files = readChannelFiles(directory, env, loaded);
  const writable = await readWritable(directory, loaded, toolbox.skills);
  const { guardrails, problems } = readGuardrails(config.security.guardrails, toolbox.skills);
  return {
    problems: [
      ...files.problems,
      ...writable.problems,
      ...[...toolbox.problems, ...problems].map(asProblem),
    ],
    warnings: [
      ...loaded.warnings,
      ...files.warnings,
      ...writable.warnings,
      // While a skill is broken its tools are missing for that reason.
      ...(toolbox.problems.length > 0 ? [] : rulesWithoutTool(loaded, [...toolbox.tools.keys()])),
      ...toolbox.warnings.map(asProblem),
    ],
    agent: {
      ...{ config, toolbox, guardrails, channels: files.channels },
      writable: writable.folders,
    },
  };
}

/** A tool as the configuration names it, and what comes of the entry when there is no such tool. */
interface NamedTool {
  name: string;
  path: (string | number)[];
  effect: string;
}

/** A rule for a tool that does not exist holds nothing back; most likely its name is mistyped. */
function rulesWithoutTool(
  { config: { security, credentials }, problemAt }: Extract<ConfigReading, { ok: true }>,
  tools: string[],
): Problem[] {
  const { denied_tools: denied, enabled } = security.guardrails;
  const named: NamedTool[] = [
    ...(['step_up', 'modify', 'defer'] as const).flatMap((layer) =>
      Object.keys(security[layer].enabled ? security[layer].tools : {}).map((name) => ({
        name,
        path: ['security', layer, 'tools', name],
        effect: 'this rule holds nothing back',
      })),
    ),
    ...(enabled ? denied : []).map((name, index) => ({
      name,
      path: ['security', 'guardrails', 'denied_tools', index],
      effect: 'this rule holds nothing back',
    })),
    ...credentials.map(({ tool: name }, index) => ({
      name,
      path: ['credentials', index, 'tool'],
      effect: 'nothing is ever signed in with it',
    })),
  ];
  const known = new Set(tools.map(normalName));
  return named
    .filter(({ name, path }) =>
      path.includes('denied_tools') ? !known.has(normalName(name)) : !tools.includes(name),
    )
    .map(({ name, path, effect }) => {
      const hint = tools.length === 0 ? '' : `; the nearest is ${closest(name, tools)}`;
      return problemAt(path, `the agent has no tool ${name}, so ${effect}${hint}`);
    });
}

/** The path of the main skill is in the file that could not be read, so the usual one is taken. */
async function readSkillsAnyway(directory: string) {
  try {
    return await readSkills(directory);
  } catch {
    return { problems: [], warnings: [] };
  }
}

function asProblem(problem: Omit<Problem, 'path'>): Problem {
  return { path: '', ...problem };
}
