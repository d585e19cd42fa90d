import type { RegistrySkill } from '../../actors/tools/tools.ts';
import type { SkillPlan } from './attach-skill.ts';

/** Returns the summary of a registry skill for commands and the dashboard. */
export function asSkillSummary({ skill, held }: RegistrySkill) {
  const { id, name, description, category = 'other', tags, tools } = skill;
  return {
    name: id,
    display_name: name,
    description,
    category,
    tags,
    held,
    tools: tools.map((tool) => tool.name),
  };
}

/** Returns the details of a registry skill. */
export function asSkillDetail(found: RegistrySkill) {
  const { skill, text, scripts, digest } = found;
  const { required, oneOf, optional } = skill.requires.env;
  return {
    ...asSkillSummary(found),
    risk: skill.risk ?? '',
    skill_md: text,
    egress_domains: skill.egressDomains,
    digest,
    requires: { bins: skill.requires.bins, required, one_of: oneOf, optional },
    scripts: Object.keys(scripts),
  };
}

/** Describes the effect of adding a skill. Never contains the values of variables. */
export function asSkillPlan(name: string, plan: SkillPlan) {
  const { files, config, scriptsReach, egressMode, heldAdded, to, isDeferTurnedOn } = plan;
  return {
    name,
    files,
    scripts_reach: scriptsReach,
    egress_mode: egressMode,
    held_added: heldAdded,
    asks: to,
    defer_turned_on: isDeferTurnedOn,
    env_missing: plan.missing,
    before: config.before,
    after: config.after,
  };
}
