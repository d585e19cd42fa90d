import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { largestSettingsFile, readRegularFile } from '../../read-regular-file.ts';
import { normalName } from '../../tool-name.ts';
import { readSkills } from './read-skills.ts';
import type { Skill } from './skill.ts';

/** A skill shipped with the product. */
export interface RegistrySkill {
  skill: Skill;
  /** Text of its `SKILL.md`. */
  text: string;
  /** Script texts by file name. */
  scripts: Record<string, string>;
  /** Names, as written, of its tools that need approval. */
  held: string[];
  /** Its other files by their paths in its folder; absent for a skill of the product, which has none. */
  others?: ReadonlyMap<string, Buffer>;
  /** SHA-256, in hex, of all its files and their names. */
  digest: string;
}

/** Reads the skills under `skills/` of a folder, sorted by name. Rejects if one of them is invalid. */
export async function readRegistry(root: string): Promise<RegistrySkill[]> {
  const { skills, problems } = await readSkills(root);
  const [problem] = problems;
  if (problem !== undefined) throw new Error(`${problem.file}:${problem.line}: ${problem.message}`);
  const sorted = skills.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return Promise.all(sorted.map((skill) => readWhole(root, skill)));
}

async function readWhole(root: string, skill: Skill): Promise<RegistrySkill> {
  const read = (path: string) => readRegularFile(path, largestSettingsFile).toString('utf8');
  const folder = join(root, dirname(skill.file), 'scripts');
  const names: string[] = await readdir(folder).catch(() => []);
  const text = read(join(root, skill.file));
  const scripts = Object.fromEntries(
    names.toSorted().map((name) => [name, read(join(folder, name))]),
  );
  const digest = digestOf({ 'SKILL.md': text, ...scripts });
  return { skill, text, scripts, held: heldTools(skill), digest };
}

/** Lists the tools of a skill that it declares as held, as their sections spell them. */
export function heldTools({ tools, held = [] }: Skill): string[] {
  const names = new Set(held.map(normalName));
  return tools.map(({ name }) => name).filter((tool) => names.has(normalName(tool)));
}

function digestOf(files: Record<string, string>): string {
  return createHash('sha256')
    .update(JSON.stringify(Object.entries(files)))
    .digest('hex');
}
