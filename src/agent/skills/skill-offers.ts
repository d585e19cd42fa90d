import type { SkillOffer } from '../../machines/wizard/offers.ts';
import { registrySkills } from './skill-registry.ts';

/** Lists the registry's skills in the format of the wizard. */
export async function skillOffers(): Promise<SkillOffer[]> {
  return (await registrySkills()).map(({ skill, held }) => ({
    name: skill.id,
    description: skill.description,
    category: skill.category ?? '',
    tools: skill.tools.map(({ name }) => name),
    held,
    egress_domains: skill.egressDomains,
    env: {
      required: skill.requires.env.required,
      one_of: skill.requires.env.oneOf,
      optional: skill.requires.env.optional,
    },
  }));
}
