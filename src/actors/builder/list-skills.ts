import { lstat, readdir } from 'node:fs/promises';
import { type FolderHandle, readSkills, type Skill } from '../tools/tools.ts';
import { withFolder } from './open-skills.ts';

/** A skill of an agent in short (docs/contract/dashboard.md, CustomSkillSummary). */
export interface CustomSkillSummary {
  /** That of its folder or file, by which it is read. */
  name: string;
  description: string;
  category: string | null;
  tags: string[];
  /** From the folder of the agent. */
  path: string;
  has_scripts: boolean;
  tools: string[];
}

/** Lists the skills that an agent has of its own, in the order in which it reads them; links are passed over. */
export async function listSkills(directory: string): Promise<CustomSkillSummary[]> {
  const { skills } = await readSkills(directory);
  const byFile = new Map(skills.map((skill) => [skill.file, skill]));
  const main = await withFolder(directory, [], (folder) => isFile(folder, 'SKILL.md'));
  const own = (await withFolder(directory, ['skills'], placesIn)) ?? [];
  const rootName = byFile.get('SKILL.md')?.id ?? 'SKILL';
  const places = [...(main === true ? [{ name: rootName, path: 'SKILL.md' }] : []), ...own];
  return places.map(({ name, path }) => summaryOf(name, path, byFile.get(path)));
}

/** Returns every name that a skill of an agent has, in its text or on disk. */
export async function takenNames(directory: string): Promise<string[]> {
  const [{ skills }, listed] = await Promise.all([readSkills(directory), listSkills(directory)]);
  return [...new Set([...skills.map(({ id }) => id), ...listed.map(({ name }) => name)])];
}

async function placesIn(folder: FolderHandle): Promise<{ name: string; path: string }[]> {
  const entries = await readdir(folder.self, { withFileTypes: true });
  const sorted = entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const found = await Promise.all(
    sorted.map(async (entry) => {
      const { name } = entry;
      if (name.startsWith('.')) return [];
      if (entry.isFile() && name.endsWith('.md')) {
        return [{ name: name.slice(0, -3), path: `skills/${name}` }];
      }
      if (!entry.isDirectory() || !(await isFile(folder, `${name}/SKILL.md`))) return [];
      return [{ name, path: `skills/${name}/SKILL.md` }];
    }),
  );
  return found.flat();
}

function summaryOf(name: string, path: string, skill: Skill | undefined): CustomSkillSummary {
  const tools = skill?.tools.map((tool) => tool.name) ?? [];
  return {
    ...{ name, description: skill?.description ?? '', category: skill?.category ?? null },
    ...{ tags: skill?.tags ?? [], path, has_scripts: tools.length > 0, tools },
  };
}

async function isFile(folder: FolderHandle, name: string): Promise<boolean> {
  return lstat(folder.at(name)).then(
    (stat) => stat.isFile(),
    () => false,
  );
}
