import { attachSkill, planSkill } from '../../agent/skills/attach-skill.ts';
import { registrySkill, registrySkills } from '../../agent/skills/skill-registry.ts';
import { asSkillDetail, asSkillPlan, asSkillSummary } from '../../agent/skills/skill-words.ts';
import { lenientEnvironment } from '../../agent/start/lenient-environment.ts';
import type {
  SkillDetailJson,
  SkillPlanJson,
  SkillSummaryJson,
} from '../../http/wire/dashboard/skill-json.ts';

/** The bundled skills. */
export type SkillShelf = ReturnType<typeof skillShelf>;

/** Provides the bundled skills to the dashboard. */
export function skillShelf(env: NodeJS.ProcessEnv) {
  return {
    /** Lists all skills sorted by name. */
    list: async (): Promise<SkillSummaryJson[]> => (await registrySkills()).map(asSkillSummary),
    /** `null` if there is no skill with this name. */
    async find(name: string): Promise<SkillDetailJson | null> {
      const found = await registrySkill(name);
      return found === null ? null : asSkillDetail(found);
    },
    /** Adds a skill to the agent in a folder, or previews the change; `null` if there is no skill with this name. */
    async add(
      directory: string,
      name: string,
      { isPreview }: { isPreview: boolean },
    ): Promise<SkillPlanJson | null> {
      const found = await registrySkill(name);
      if (found === null) return null;
      const place = { directory, env: await lenientEnvironment(directory, env) };
      const plan = await planSkill(place, found);
      if (!isPreview) await attachSkill(place, found, plan);
      return { ...asSkillPlan(name, plan), added: !isPreview };
    },
  };
}
