import { closest } from 'fastest-levenshtein';
import {
  type ConfigReading,
  loadConfig,
  type Problem,
  type ServiceConfig,
} from '../config/config.ts';
import type { Clock } from '../ports.ts';
import { readSkills } from '../skills/skills.ts';
import { createToolbox, type Toolbox } from '../tools/tools.ts';

/** What an agent's folder holds, with everything that is wrong in it. */
export interface AgentReading {
  /** The agent can be started when there are none. */
  problems: Problem[];
  warnings: Problem[];
  /** `null` when `service.yaml` cannot be used. */
  agent: { config: ServiceConfig; toolbox: Toolbox } | null;
}

/** Reads `service.yaml`, the skills and the tools of a folder, and starts nothing. */
export async function readAgent(
  directory: string,
  env: NodeJS.ProcessEnv,
  clock: Clock,
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
  const toolbox = await createToolbox({ directory, config, env, clock });
  return {
    problems: toolbox.problems.map(asProblem),
    warnings: [
      ...loaded.warnings,
      // While a skill is broken its tools are missing for that reason.
      ...(toolbox.problems.length > 0 ? [] : rulesWithoutTool(loaded, [...toolbox.tools.keys()])),
      ...toolbox.warnings.map(asProblem),
    ],
    agent: { config, toolbox },
  };
}

/** A rule for a tool that does not exist holds nothing back; most likely its name is mistyped. */
function rulesWithoutTool(
  { config: { security }, problemAt }: Extract<ConfigReading, { ok: true }>,
  tools: string[],
): Problem[] {
  return (['step_up', 'defer'] as const).flatMap((layer) =>
    Object.keys(security[layer].enabled ? security[layer].tools : {})
      .filter((name) => !tools.includes(name))
      .map((name) => {
        const hint = tools.length === 0 ? '' : `; the nearest is ${closest(name, tools)}`;
        const message = `the agent has no tool ${name}, so this rule holds nothing back${hint}`;
        return problemAt(['security', layer, 'tools', name], message);
      }),
  );
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
