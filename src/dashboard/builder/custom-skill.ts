import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { type FolderHandle, readSkills } from '../../actors/tools/tools.ts';
import type { CustomSkillContentJson } from '../../http/wire/dashboard/builder-json.ts';
import {
  isScriptName,
  scriptsProblem,
  type WrittenSkill,
} from '../../machines/skill-builder/written-skill.ts';
import { linked, readText, withFolder } from './open-skills.ts';
import { checkSkillName, SkillFileError } from './skill-file-error.ts';

/** Reads a skill by its name. Rejects with a SkillFileError. */
export async function readCustomSkill(
  directory: string,
  name: string,
): Promise<CustomSkillContentJson> {
  checkSkillName(name);
  const found =
    (await withFolder(directory, ['skills', name], readSubdir)) ??
    (await withFolder(directory, ['skills'], (folder) => readFlat(directory, folder, name)));
  if (found !== null) return { ...found, etag: etagOf(found) };
  throw new SkillFileError('skill_missing', `the agent has no skill ${name}`);
}

/** Reads a skill by its name; `null` when there is none. Rejects with a SkillFileError. */
export async function foundSkill(
  directory: string,
  name: string,
): Promise<CustomSkillContentJson | null> {
  try {
    return await readCustomSkill(directory, name);
  } catch (error) {
    if (error instanceof SkillFileError && error.code === 'skill_missing') return null;
    throw error;
  }
}

/** Reads the skill in a folder of its own; `null` when it holds none. Rejects with a SkillFileError. */
export async function readSubdir(
  folder: FolderHandle,
): Promise<(WrittenSkill & { format: 'subdir' }) | null> {
  const text = await readText(folder, 'SKILL.md');
  if (text === null) return null;
  return { skill_md: text, scripts: await scriptsIn(folder), format: 'subdir' };
}

/** Returns the ETag of a skill's content. */
export function etagOf({ skill_md: text, scripts }: WrittenSkill): string {
  const sorted = Object.entries(scripts).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `"${hash('sha256', JSON.stringify([text, sorted]))}"`;
}

async function scriptsIn(folder: FolderHandle): Promise<Record<string, string>> {
  let inner: FolderHandle;
  try {
    inner = await folder.enter('scripts');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    if (code === 'ENOTDIR' || code === 'ELOOP') throw linked('scripts');
    throw error;
  }
  try {
    const entries = await readdir(inner.self, { withFileTypes: true });
    const scripts: [string, string][] = [];
    for (const entry of entries) {
      const { name } = entry;
      // Skips files left behind by interpreters and editors.
      if (name.startsWith('.') || name === '__pycache__') continue;
      if (entry.isSymbolicLink()) throw linked(`scripts/${name}`);
      if (!isScriptName(name) || !entry.isFile()) {
        const message = `scripts holds ${JSON.stringify(name)}, which is not a script; edit the skill by hand`;
        throw new SkillFileError('skill_unusable', message);
      }
      scripts.push([name, (await readText(inner, name)) ?? '']);
    }
    const found = Object.fromEntries(scripts);
    const problem = scriptsProblem(found);
    if (problem !== null) throw new SkillFileError('skill_unusable', problem);
    return found;
  } finally {
    await inner[Symbol.asyncDispose]();
  }
}

/** Skills in single files share one folder of scripts; a skill owns the scripts that its tools name. */
async function readFlat(
  directory: string,
  folder: FolderHandle,
  name: string,
): Promise<(WrittenSkill & { format: 'flat' }) | null> {
  const text = await readText(folder, `${name}.md`);
  if (text === null) return null;
  const { skills } = await readSkills(directory);
  const tools = skills.find(({ file }) => file === `skills/${name}.md`)?.tools ?? [];
  const own = new Set(tools.map(({ script }) => basename(script)));
  const all = own.size === 0 ? {} : await scriptsIn(folder);
  const scripts = Object.entries(all).filter(([script]) => own.has(script));
  return { skill_md: text, scripts: Object.fromEntries(scripts), format: 'flat' };
}
