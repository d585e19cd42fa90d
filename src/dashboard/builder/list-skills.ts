import { lstat, readdir } from 'node:fs/promises';
import { type FolderHandle, readSkills, type Skill } from '../../actors/tools/tools.ts';
import { withFolder } from './open-skills.ts';

/** Summary of an agent's skill (docs/contract/dashboard.md, CustomSkillSummary). */
export interface CustomSkillSummary {
  /** Name of its folder or file; the skill is read by this name. */
  name: string;
  description: string;
  category: string | null;
  tags: string[];
  /** Path relative to the agent's folder. */
  path: string;
  has_scripts: boolean;
  tools: string[];
}

/** Lists the agent's own skills in the order in which the agent loads them; symbolic links are skipped. */
export async function listSkills(directory: string): Promise<CustomSkillSummary[]> {
  const { skills } = await readSkills(directory);
  const byFile = new Map(skills.map((skill) => [skill.file, skill]));
  const main = await withFolder(directory, [], (folder) => isFile(folder, 'SKILL.md'));
  const own = (await withFolder(directory, ['skills'], placesIn)) ?? [];
  const rootName = byFile.get('SKILL.md')?.id ?? 'SKILL';
  const places = [...(main === true ? [{ name: rootName, path: 'SKILL.md' }] : []), ...own];
  return places.map(({ name, path }) => summaryOf(name, path, byFile.get(path)));
}

/** Returns every skill name in use, both declared names and names on disk. */
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
