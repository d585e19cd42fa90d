import { randomUUID } from 'node:crypto';
import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isKebabName } from '../../machines/kebab-case.ts';
import { isScriptName } from '../../machines/skill-builder/written-skill.ts';
import { flushPath } from '../flush-path.ts';
import { writeNewFile } from '../write-new-file.ts';
import { flushTree } from './new-folder.ts';

/** A skill to copy into an agent's folder. */
export interface SkillFiles {
  /** Name of the skill and its folder. */
  name: string;
  skill_md: string;
  /** Script texts by file name. */
  scripts: Readonly<Record<string, string>>;
  /** Further files by their paths in the folder, which a TreeBuilder has accepted. */
  others?: ReadonlyMap<string, Buffer>;
}

/** A skill cannot be added; the message gives the reason, and nothing was written. */
export class AddSkillError extends Error {
  readonly code: 'skill_exists' | 'skill_unusable';

  constructor(code: AddSkillError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Copies a skill to `skills/<name>` of an agent's folder atomically, and returns that folder with a function that
 * removes it. Replaces an existing skill only if asked to, and never follows a link. Rejects with an AddSkillError.
 */
export async function addSkill(
  directory: string,
  { name, skill_md: text, scripts, others = new Map() }: SkillFiles,
  { replaces = false }: { replaces?: boolean } = {},
): Promise<{ path: string; remove: () => Promise<void> }> {
  checkNames(name, Object.keys(scripts));
  const skills = join(directory, 'skills');
  const path = join(skills, name);
  const draft = join(skills, `.${name}.${randomUUID()}.tmp`);
  const old = join(skills, `.${name}.${randomUUID()}.old`);
  try {
    await mkdir(skills, { recursive: false }).catch(unlessThere);
    if (!(await lstat(skills)).isDirectory()) {
      throw new AddSkillError('skill_unusable', `${skills} is no folder; make it one`);
    }
    for (const taken of replaces ? [] : [path, `${path}.md`]) await refuseTaken(taken, name);
    const own = Object.entries(scripts).map(([file, content]) => [`scripts/${file}`, content]);
    await mkdir(draft);
    for (const [file = '', content] of [['SKILL.md', text], ...own, ...others]) {
      await mkdir(dirname(join(draft, file)), { recursive: true });
      await writeNewFile(join(draft, file), content);
    }
    await flushTree(draft);
    if (replaces) await rename(path, old);
    await rename(draft, path).catch(async (error: unknown) => {
      if (replaces) await rename(old, path);
      throw error;
    });
    await flushPath(skills);
  } catch (error) {
    // A path that is not a folder contains no draft.
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    if (error instanceof AddSkillError) throw error;
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') throw exists(path, name);
    throw new AddSkillError('skill_unusable', `${path} cannot be written (${code})`, {
      cause: error,
    });
  }
  await rm(old, { recursive: true, force: true });
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

function checkNames(name: string, files: readonly string[]): void {
  if (!isKebabName(name)) {
    const message = 'the name of a skill is lower-case words joined by hyphens';
    throw new AddSkillError('skill_unusable', message);
  }
  const wrong = files.find((file) => !isScriptName(file));
  if (wrong === undefined) return;
  const message = `${JSON.stringify(wrong)} cannot name a script; use letters, digits, ., _ and -`;
  throw new AddSkillError('skill_unusable', message);
}

async function refuseTaken(path: string, name: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found !== null) throw exists(path, name);
}

function exists(path: string, name: string): AddSkillError {
  const message = `the agent has a skill ${name} already, in ${path}; it was left as it is`;
  return new AddSkillError('skill_exists', message);
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
