import {
  heldNames,
  parseFrontmatter,
  type SkillFinding,
  validateSkill,
} from '../../actors/tools/tools.ts';
import type {
  CustomSkillContentJson,
  SkillCheckJson,
  SkillSaveResultJson,
} from '../../http/wire/dashboard/builder-json.ts';
import { scriptsProblem, type WrittenSkill } from '../../machines/skill-builder/written-skill.ts';
import { foundSkill } from './custom-skill.ts';
import { type AgentSkills, readAgentSkills } from './list-skills.ts';
import { mendSkills } from './replace-skill.ts';
import type { SavePlace, SaveRequest } from './save-request.ts';
import {
  checkSkillName,
  SkillConflictError,
  SkillFileError,
  SkillInvalidError,
} from './skill-file-error.ts';
import { writeSkill } from './write-skill.ts';

/**
 * A validator finding, an error that would keep the agent from loading the skill, or a tool whose hold the new text
 * dropped.
 */
type Remark = Omit<SkillFinding, 'rule'> & { rule: SkillFinding['rule'] | 'held_kept' };

/** Validates a skill as `saveSkill` does. Rejects with a SkillFileError for invalid script names. */
export async function checkSkill(
  directory: string,
  draft: WrittenSkill & { editing: string | null },
): Promise<SkillCheckJson> {
  return (await examine(directory, draft)).check;
}

/** A validated draft with what was read for it. */
interface Examined {
  check: SkillCheckJson;
  skills: AgentSkills;
  /** The edited skill; `null` if the draft edits none or it does not exist. */
  edited: CustomSkillContentJson | null;
}

async function examine(
  directory: string,
  { skill_md: text, scripts, editing }: WrittenSkill & { editing: string | null },
): Promise<Examined> {
  const problem = scriptsProblem(scripts);
  if (problem !== null) throw new SkillFileError('skill_refused', problem);
  if (editing !== null) checkSkillName(editing);
  const skills = await readAgentSkills(directory);
  const findings = validateSkill({ skill_md: text, scripts, existing: skills.taken, editing });
  const edited = editing === null ? null : await foundSkill(directory, editing);
  const dropped = edited === null ? [] : noLongerHeld(edited.skill_md, text);
  return { check: checkJson([...findings, ...dropped]), skills, edited };
}

function checkJson(findings: readonly Remark[]): SkillCheckJson {
  const of = (wanted: Remark['level']) =>
    findings
      .filter(({ level }) => level === wanted)
      .map(({ rule, message, file = null, line = null, column = null }) => ({
        rule,
        message,
        file,
        line,
        column,
      }));
  const errors = of('error');
  return { valid: errors.length === 0, errors, warnings: of('warning') };
}

/** Lists the tools that the old text held and the new text does not; a model may have dropped them silently. */
function noLongerHeld(before: string, after: string): Remark[] {
  const left = new Set(heldNames(after));
  return heldNames(before)
    .filter((tool) => !left.has(tool))
    .map((tool) => {
      const message = `the skill held ${tool} before and this text no longer does; restore it under metadata.service.held unless that is intended`;
      return { level: 'warning', rule: 'held_kept', message, line: 1, column: 1 };
    });
}

/**
 * Saves a skill atomically: its files, its declared hosts and the given variables (docs/contract/dashboard.md).
 *
 * @param now epoch milliseconds; older leftovers of interrupted saves are removed
 * @throws SkillInvalidError, SkillConflictError, SkillFileError, ConfigFileError, AddSkillError, SecretsError or
 *   VariableError; nothing was saved
 */
export async function saveSkill(
  place: SavePlace,
  request: SaveRequest,
  now: number,
): Promise<SkillSaveResultJson> {
  const { directory } = place;
  const { skillName, overwrite, editing } = request;
  for (const name of [skillName, editing]) if (name !== null) checkSkillName(name);
  if (overwrite && (editing === null || (skillName !== null && skillName !== editing))) {
    const message = 'overwrite needs editing_name, and skill_name the same as it';
    throw new SkillFileError('skill_refused', message);
  }
  await mendSkills(directory, now);
  const { check, skills, edited } = await examine(directory, request);
  if (!check.valid) throw new SkillInvalidError({ ...check, warnings: [] });
  const name = nameIn(request.skill_md);
  if (!overwrite && skillName !== null && skillName !== name) {
    const message = `skill_name must be ${name}, the name in the frontmatter`;
    throw new SkillFileError('skill_refused', message);
  }
  const existing = name === editing ? edited : await foundSkill(directory, name);
  const isReplacing = overwrite && name === editing;
  if (isReplacing && request.etag !== null && request.etag !== existing?.etag) {
    throw new SkillConflictError('skill_changed', name, existing);
  }
  if (!isReplacing && existing !== null)
    throw new SkillConflictError('skill_taken', name, existing);
  return writeSkill(place, request, { name, existing, skills });
}

/** A validated skill always has a name. */
function nameIn(text: string): string {
  return String(parseFrontmatter(text).data['name']);
}
