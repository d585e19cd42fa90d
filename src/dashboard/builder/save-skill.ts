import { heldNames, parseFrontmatter, validateSkill } from '../../actors/tools/tools.ts';
import { scriptsProblem, type WrittenSkill } from '../../machines/skill-builder/written-skill.ts';
import { foundSkill } from './custom-skill.ts';
import { takenNames } from './list-skills.ts';
import { mendSkills } from './replace-skill.ts';
import type { Remark, SaveOutcome, SavePorts, SaveRequest } from './save-order.ts';
import { checkSkillName, SkillFileError } from './skill-file-error.ts';
import { writeSkill } from './write-skill.ts';

/** Validates a skill as `save` does. Rejects with a SkillFileError for invalid script names. */
export async function checkSkill(
  directory: string,
  { skill_md: text, scripts, editing }: WrittenSkill & { editing: string | null },
): Promise<Remark[]> {
  const problem = scriptsProblem(scripts);
  if (problem !== null) throw new SkillFileError('refused', problem);
  if (editing !== null) checkSkillName(editing);
  const existing = await takenNames(directory);
  const findings = validateSkill({ skill_md: text, scripts, existing, editing });
  const before = editing === null ? null : await foundSkill(directory, editing);
  return before === null ? findings : [...findings, ...noLongerHeld(before.skill_md, text)];
}

/** Lists the tools that the old text held and the new text does not; a model may have dropped them silently. */
function noLongerHeld(before: string, after: string): Remark[] {
  const left = new Set(heldNames(after));
  return heldNames(before)
    .filter((tool) => !left.has(tool))
    .map((tool) => {
      const message = `the skill said that ${tool} should be held, and this text does not any more; put it back under metadata.service.held unless that is what you want`;
      return { level: 'warning', rule: 'held_kept', message, line: 1, column: 1 };
    });
}

/**
 * Saves a skill atomically: its files, its declared hosts and the given variables (docs/contract/dashboard.md). Rejects
 * with a SkillFileError, a ConfigFileError, an AddSkillError, a SecretsError or a VariableError.
 */
export async function saveSkill(
  directory: string,
  request: SaveRequest,
  ports: SavePorts,
): Promise<SaveOutcome> {
  const { skillName, overwrite, editing } = request;
  for (const name of [skillName, editing]) if (name !== null) checkSkillName(name);
  if (overwrite && (editing === null || (skillName !== null && skillName !== editing))) {
    const message = 'overwrite needs editing_name, and skill_name the same as it';
    throw new SkillFileError('refused', message);
  }
  await mendSkills(directory, ports.now);
  const findings = await checkSkill(directory, request);
  const errors = findings.filter(({ level }) => level === 'error');
  if (errors.length > 0) return { kind: 'invalid', findings: errors };
  const name = nameIn(request.skill_md);
  if (!overwrite && skillName !== null && skillName !== name) {
    throw new SkillFileError('refused', `skill_name must be ${name}, the name in the frontmatter`);
  }
  const existing = await foundSkill(directory, name);
  const isReplacing = overwrite && name === editing;
  if (isReplacing && request.etag !== null && request.etag !== existing?.etag) {
    return { kind: 'changed', name, now: existing };
  }
  if (!isReplacing && existing !== null) return { kind: 'exists', name, now: existing };
  return writeSkill(directory, { ...request, name, existing }, ports);
}

/** A validated skill always has a name. */
function nameIn(text: string): string {
  return String(parseFrontmatter(text).data['name']);
}
