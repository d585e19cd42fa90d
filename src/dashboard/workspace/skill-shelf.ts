import { attachSkill, planSkill } from '../../agent/attach-skill.ts';
import { lenientEnvironment } from '../../agent/lenient-environment.ts';
import { registrySkill, registrySkills } from '../../agent/skill-registry.ts';
import { asSkillDetail, asSkillPlan, asSkillSummary } from '../../agent/skill-words.ts';
import type { SkillShelf } from '../routes/dashboard-ports.ts';

/** Provides the bundled skills to the dashboard. */
export function skillShelf(env: NodeJS.ProcessEnv): SkillShelf {
  return {
    list: async () => (await registrySkills()).map(asSkillSummary),
    async find(name) {
      const found = await registrySkill(name);
      return found === null ? null : asSkillDetail(found);
    },
    async add(directory, name, { isPreview }) {
      const found = await registrySkill(name);
      if (found === null) return null;
      const place = { directory, env: await lenientEnvironment(directory, env) };
      const plan = await planSkill(place, found);
      if (!isPreview) await attachSkill(place, found, plan);
      return { ...asSkillPlan(name, plan), added: !isPreview };
    },
  };
}
