import { relative, sep } from 'node:path';
import { kebabCase } from '../../../machines/kebab-case.ts';
import {
  largestSettingsFile,
  readRegularFile,
  UnusableFileError,
} from '../../read-regular-file.ts';
import { type Frontmatter, FrontmatterError, parseFrontmatter } from './frontmatter.ts';
import { resolveInside } from './inside-directory.ts';
import { scriptDefinitions } from './script-definitions.ts';
import type { Skill } from './skill.ts';
import type { Position, SkillProblem } from './skill-problem.ts';
import { readSkillText } from './skill-text.ts';

/** A potential skill file, and the folder of its scripts. */
export interface SkillSource {
  path: string;
  scriptsDirectory: string;
}

/** Result of reading one file; without a skill the remarks give the reason. */
export interface SkillReading {
  skill?: Skill;
  problems: SkillProblem[];
  warnings: SkillProblem[];
}

/** Reads one skill file of an agent; links in the path of the agent's folder must already be resolved. */
export async function readSkill(
  agentDirectory: string,
  source: SkillSource,
): Promise<SkillReading> {
  const file = relative(agentDirectory, source.path).split(sep).join('/');
  const refuse = (message: string, position: Position = { line: 1, column: 1 }): SkillReading => ({
    problems: [{ message, file, ...position }],
    warnings: [],
  });
  const resolved = await resolveInside(agentDirectory, source.path);
  if (resolved.kind === 'outside') {
    return refuse('the skill file leads out of the agent folder; move it inside');
  }
  if (resolved.kind === 'missing') return refuse('the skill file does not exist; fix the path');
  let frontmatter: Frontmatter;
  try {
    frontmatter = parseFrontmatter(
      readRegularFile(resolved.path, largestSettingsFile).toString('utf8'),
    );
  } catch (error) {
    if (error instanceof UnusableFileError) {
      return refuse(
        error.code === 'no_file'
          ? 'the skill is not a file; replace it'
          : 'the skill file is larger than 256 KiB; shorten it',
      );
    }
    if (!(error instanceof FrontmatterError)) throw error;
    return refuse(error.message, error.position);
  }
  return interpret(agentDirectory, source, file, frontmatter);
}

async function interpret(
  agentDirectory: string,
  source: SkillSource,
  file: string,
  frontmatter: Frontmatter,
): Promise<SkillReading> {
  const { skill, idempotent, problems, warnings } = readSkillText(file, frontmatter);
  if (skill === undefined) return { problems, warnings };
  const tools = await scriptDefinitions(skill, {
    agentDirectory,
    scriptsDirectory: source.scriptsDirectory,
    body: frontmatter.body,
    bodyLine: frontmatter.bodyLine,
    idempotent,
    held: skill.held ?? [],
  });
  return {
    skill: { ...skill, tools: tools.definitions },
    problems: [...problems, ...tools.problems],
    warnings: [...keyWarnings(skill, frontmatter), ...warnings, ...tools.warnings],
  };
}

function keyWarnings(skill: Skill, { locate }: Frontmatter): SkillProblem[] {
  const warnings: SkillProblem[] = [];
  const at = (message: string, key: string) => ({ message, file: skill.file, ...locate([key]) });
  if (skill.description === '') {
    warnings.push(at(`skill ${skill.id} has no description; say what it is for`, 'name'));
  }
  if (skill.category !== undefined && !kebabCase.test(skill.category)) {
    const hint = 'category should be lower-case words joined by hyphens, such as customer-care';
    warnings.push(at(hint, 'category'));
  }
  return warnings;
}
