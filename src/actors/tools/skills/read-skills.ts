import { lstat, readdir, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { normalName } from '../../tool-name.ts';
import { readSkill, type SkillSource } from './read-skill.ts';
import type { Skill } from './skill.ts';
import type { SkillProblem } from './skill-problem.ts';

const defaultMainPath = 'SKILL.md';

/** The skills of an agent; problems prevent something from working, warnings do not. */
export interface SkillsReading {
  skills: Skill[];
  problems: SkillProblem[];
  warnings: SkillProblem[];
}

/**
 * Reads the skills of an agent: the main file, then `skills/*.md` and `skills/<name>/SKILL.md`, sorted by path.
 *
 * An invalid file is skipped with a problem, one without a name with a warning. Of two skills with the same name the
 * first wins. The default main file may be missing, but not one named by `mainPath`.
 */
export async function readSkills(
  directory: string,
  options: { mainPath?: string } = {},
): Promise<SkillsReading> {
  const agentDirectory = await realpath(directory);
  const result: SkillsReading = { skills: [], problems: [], warnings: [] };
  const seen = new Set<string>();
  for (const source of await sources(agentDirectory, options.mainPath ?? defaultMainPath)) {
    const { skill, problems, warnings } = await readSkill(agentDirectory, source);
    result.problems.push(...problems);
    result.warnings.push(...warnings);
    if (!skill) continue;
    if (seen.has(skill.id)) result.warnings.push(secondOfItsName(skill));
    else result.skills.push(skill);
    seen.add(skill.id);
  }
  result.problems.push(...toolsOfOneName(result.skills));
  return result;
}

async function sources(directory: string, mainPath: string): Promise<SkillSource[]> {
  const main = resolve(directory, mainPath);
  const folder = join(directory, 'skills');
  const found: SkillSource[] = [];
  if (mainPath !== defaultMainPath || (await exists(main))) {
    found.push({ path: main, scriptsDirectory: join(directory, 'scripts') });
  }
  for (const name of await visibleNames(folder)) {
    const path = name.endsWith('.md') ? join(folder, name) : join(folder, name, 'SKILL.md');
    if (path === main) continue;
    if (name.endsWith('.md') || (await exists(path))) {
      found.push({ path, scriptsDirectory: join(dirname(path), 'scripts') });
    }
  }
  return found;
}

/** A dangling link counts as existing, so that it is reported rather than skipped. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

async function visibleNames(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).toSorted();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function secondOfItsName({ id, file }: Skill): SkillProblem {
  const message = `another file already holds the skill ${id} and this one is skipped; rename one`;
  return { message, file, line: 1, column: 1 };
}

function toolsOfOneName(skills: Skill[]): SkillProblem[] {
  const owners = new Map<string, string>();
  const problems: SkillProblem[] = [];
  for (const { name, file, line } of skills.flatMap((skill) => skill.tools)) {
    const owner = owners.get(normalName(name));
    if (owner === undefined) owners.set(normalName(name), file);
    else if (owner !== file) {
      const message = `tool ${name} is also described in ${owner}; rename one`;
      problems.push({ message, file, line, column: 1 });
    }
  }
  return problems;
}
