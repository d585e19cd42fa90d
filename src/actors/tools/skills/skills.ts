export { addSection } from './add-section.ts';
export {
  type CompiledSchema,
  checkArguments,
  checkSchema,
  compileLater,
  validateArguments,
} from './argument-schema.ts';
export { changedCode } from './code-digest.ts';
export { digestOf, digestTree } from './code-tree.ts';
export type { ScriptExtension } from './find-script.ts';
export { parseFrontmatter } from './frontmatter.ts';
export { heldNames, toolsToHold } from './held-names.ts';
export { parseInputLine } from './input-line.ts';
export { type MentionedHost, mentionedHosts } from './mentioned-hosts.ts';
export { isMissingProgram, missingRequirements } from './missing-requirements.ts';
export { heldTools, type RegistrySkill, readRegistry } from './read-registry.ts';
export { readSkills } from './read-skills.ts';
export type { Requirements, ScriptDefinition, Skill } from './skill.ts';
export type { SkillProblem } from './skill-problem.ts';
export { variableOfHost } from './skill-text.ts';
export {
  type SkillDraft,
  type SkillFinding,
  validateSkill,
} from './validate-skill.ts';
