// Skill builder: its model settings, one turn of its conversation, and the skills it reads and saves.

export {
  type BuilderModel,
  type ModelOfAgent,
  resolveModel,
  userFolder,
} from './builder-model.ts';
export { builderPrompt } from './builder-prompt.ts';
export { readCustomSkill } from './custom-skill.ts';
export { listSkills, takenNames } from './list-skills.ts';
export { mendSkills } from './replace-skill.ts';
export { runTurn } from './run-turn.ts';
export { SettingsError, saveSettings } from './save-settings.ts';
export { checkSkill, saveSkill } from './save-skill.ts';
export { keyVariableOf, providersOffered } from './settings-file.ts';
export { SkillFileError } from './skill-file-error.ts';
