import { lstat, readdir } from 'node:fs/promises';
import { type FolderHandle, readSkills, type Skill } from '../../actors/tools/tools.ts';
import type { CustomSkillJson } from '../../http/wire/dashboard/builder-json.ts';
import { withFolder } from './open-skills.ts';

/** An agent's skills as read once. */
export type AgentSkills = Awaited<ReturnType<typeof readSkills>> & {
  /** The agent's own skills in the order in which it loads them; symbolic links are skipped. */
  listed: CustomSkillJson[];
  /** Every skill name in use, both declared names and names on disk. */
  taken: string[];
};

/** Reads an agent's skills. Rejects with a SkillFileError. */
export async function readAgentSkills(directory: string): Promise<AgentSkills> {
  const read = await readSkills(directory);
  const { skills } = read;
  const byFile = new Map(skills.map((skill) => [skill.file, skill]));
  const main = await withFolder(directory, [], (folder) => isFile(folder, 'SKILL.md'));
  const own = (await withFolder(directory, ['skills'], placesIn)) ?? [];
  const rootName = byFile.get('SKILL.md')?.id ?? 'SKILL';
  const places = [...(main === true ? [{ name: rootName, path: 'SKILL.md' }] : []), ...own];
  const listed = places.map(({ name, path }) => summaryOf(name, path, byFile.get(path)));
  const taken = new Set([...skills.map(({ id }) => id), ...listed.map(({ name }) => name)]);
  return { ...read, listed, taken: [...taken] };
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

function summaryOf(name: string, path: string, skill: Skill | undefined): CustomSkillJson {
  const tools = skill?.tools.map((tool) => tool.name) ?? [];
  return {
    name,
    description: skill?.description ?? '',
    category: skill?.category ?? null,
    tags: skill?.tags ?? [],
    path,
    has_scripts: tools.length > 0,
    tools,
  };
}

async function isFile(folder: FolderHandle, name: string): Promise<boolean> {
  return lstat(folder.at(name)).then(
    (stat) => stat.isFile(),
    () => false,
  );
}
