import type { ServiceConfig } from '../../actors/config/config.ts';
import { normalName } from '../../actors/tool-name.ts';
import type { RegistrySkill } from '../../actors/tools/tools.ts';
import { AddSkillError, addSkill, revertConfig } from '../../actors/workspace/workspace.ts';
import {
  type AgentPlace,
  type HeldRules,
  planHeldRules,
  usableAgent,
  writeHeldRules,
} from '../policy/held-rules.ts';

/** A variable that a skill declares and the agent does not set. */
export interface MissingVariable {
  name: string;
  kind: 'required' | 'one_of' | 'optional';
}

/** The changes that adding a skill would make. */
export interface SkillPlan extends HeldRules {
  /** Paths of the added files, relative to the agent's folder. */
  files: string[];
  /**
   * Hosts that only the skill's scripts can reach through its `egress_domains`. The hosts of `egress.allowed_domains`
   * are reachable in addition.
   */
  scriptsReach: string[];
  egressMode: ServiceConfig['egress']['mode'];
  missing: MissingVariable[];
}

/**
 * Computes the effect of adding a skill: its files, the rules added to `service.yaml`, the hosts its scripts may reach
 * through its own `egress_domains`, and the missing variables. It does not add hosts to `egress.allowed_domains`,
 * because that would open them to every tool. Writes nothing. Rejects with AddSkillError or ConfigFileError.
 */
export async function planSkill(
  place: AgentPlace,
  found: RegistrySkill,
  { replaces = false }: { replaces?: boolean } = {},
): Promise<SkillPlan> {
  const { skill, held } = found;
  const agent = await usableAgent(place);
  const { config, toolbox } = agent;
  const existing = toolbox.skills.find(({ id }) => id === skill.id);
  if (existing !== undefined && !replaces) {
    throw new AddSkillError('skill_exists', `the agent has a skill ${skill.id} already`);
  }
  const own = new Set(existing?.tools.map(({ name }) => name));
  const others = [...toolbox.tools.keys()].filter((name) => !own.has(name));
  const known = new Set(others.map(normalName));
  const taken = skill.tools.find(({ name }) => known.has(normalName(name)));
  if (taken !== undefined) {
    const message = `the agent has a tool ${taken.name} already; rename one of the two`;
    throw new AddSkillError('skill_exists', message);
  }
  const { mode: egressMode } = config.egress;
  return {
    ...planHeldRules(agent, held),
    files: filesOf(skill.id, found),
    scriptsReach: egressMode === 'deny-all' ? [] : skill.egressDomains,
    egressMode,
    missing: missingVariables(skill.requires.env, place.env),
  };
}

/**
 * Adds a skill to an agent as planned, atomically, and returns the skill's folder. Rules that hold its tools are
 * written before the tools. Rejects with AddSkillError or ConfigFileError.
 */
export async function attachSkill(
  place: AgentPlace,
  { skill, text, scripts, others = new Map() }: RegistrySkill,
  plan: SkillPlan,
  { replaces = false }: { replaces?: boolean } = {},
): Promise<string> {
  await writeHeldRules(place, plan);
  try {
    const files = { name: skill.id, skill_md: text, scripts, others };
    return (await addSkill(place.directory, files, { replaces })).path;
  } catch (error) {
    await revertConfig(plan.config);
    throw error;
  }
}

function filesOf(
  name: string,
  { scripts, others = new Map() }: Pick<RegistrySkill, 'scripts' | 'others'>,
): string[] {
  const own = Object.keys(scripts).map((file) => `scripts/${file}`);
  return ['SKILL.md', ...own, ...others.keys()].map((file) => `skills/${name}/${file}`);
}

/** Lists the variables that a skill declares and the agent does not set. */
export function missingVariables(
  { required, oneOf, optional }: RegistrySkill['skill']['requires']['env'],
  env: NodeJS.ProcessEnv,
): MissingVariable[] {
  const isUnset = (name: string) => (env[name] ?? '') === '';
  const as = (names: readonly string[], kind: MissingVariable['kind']) =>
    names.filter(isUnset).map((name) => ({ name, kind }));
  const choice = oneOf.every(isUnset) ? oneOf : [];
  return [...as(required, 'required'), ...as(choice, 'one_of'), ...as(optional, 'optional')];
}
