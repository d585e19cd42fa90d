import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { FolderHandle } from '../../actors/tools/tools.ts';
import { SkillFileError } from './skill-file-error.ts';

/** Maximum size of one skill file, in bytes. */
const longestFile = 1024 * 1024;

/**
 * Opens a folder of an agent one path component at a time, without following links, and passes it to the callback;
 * `null` if the folder does not exist. Rejects with a SkillFileError for a link.
 */
export async function withFolder<Answer>(
  directory: string,
  names: readonly string[],
  use: (folder: FolderHandle) => Promise<Answer>,
): Promise<Answer | null> {
  const root = await FolderHandle.open(directory);
  try {
    return await descend(root, names, use);
  } finally {
    await root[Symbol.asyncDispose]();
  }
}

async function descend<Answer>(
  folder: FolderHandle,
  [name, ...others]: readonly string[],
  use: (folder: FolderHandle) => Promise<Answer>,
): Promise<Answer | null> {
  if (name === undefined) return use(folder);
  const inner = await entered(folder, name);
  if (inner === null) return null;
  try {
    return await descend(inner, others, use);
  } finally {
    await inner[Symbol.asyncDispose]();
  }
}

async function entered(folder: FolderHandle, name: string): Promise<FolderHandle | null> {
  try {
    return await folder.enter(name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
    if (await isLink(folder, name)) throw linked(name);
    return null;
  }
}

/**
 * Reads a text file in a folder; `null` if it does not exist. Rejects with a SkillFileError for a link or a file that
 * is not text.
 */
export async function readText(folder: FolderHandle, name: string): Promise<string | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      throw code === 'ELOOP' ? linked(name) : error;
    },
  );
  if (file === null) return null;
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > longestFile) {
      throw new SkillFileError(
        'skill_unusable',
        `${name} is not a file of at most 1 MiB; fix it by hand`,
      );
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new SkillFileError('skill_unusable', `${name} is no text; change the skill by hand`);
  } finally {
    await file.close();
  }
}

/** Creates the error for a symbolic link, regardless of its destination. */
export function linked(name: string): SkillFileError {
  return new SkillFileError(
    'skill_refused',
    `${name} is a link, and no link is followed; replace it`,
  );
}

async function isLink(folder: FolderHandle, name: string): Promise<boolean> {
  return lstat(folder.at(name)).then(
    (stat) => stat.isSymbolicLink(),
    () => false,
  );
}
