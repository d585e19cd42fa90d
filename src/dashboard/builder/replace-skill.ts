import { randomUUID } from 'node:crypto';
import { cp, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import type { FolderHandle } from '../../actors/tools/tools.ts';
import { writeNewFile } from '../../actors/write-new-file.ts';
import type { WrittenSkill } from '../../machines/skill-builder/written-skill.ts';
import { etagOf, readSubdir } from './custom-skill.ts';
import { withFolder } from './open-skills.ts';
import { checkSkillName, SkillFileError } from './skill-file-error.ts';

/** A replaced skill. The old version is retained until `finish` deletes it or `restore` puts it back. */
export interface ReplacedSkill {
  restore(): Promise<void>;
  finish(): Promise<void>;
}

/** Age after which an interrupted replacement counts as abandoned, in milliseconds. */
const abandoned = 60_000;

/**
 * Replaces the skill whose version is `etag`: text and scripts are replaced, other files in its folder are preserved.
 * Readers see either the old skill or the new one. Resolves with `null` if the skill has changed since. Rejects with a
 * SkillFileError.
 */
export async function replaceSkill(
  directory: string,
  { name, ...skill }: WrittenSkill & { name: string },
  etag: string,
): Promise<ReplacedSkill | null> {
  checkSkillName(name);
  const mark = `.${name}.${randomUUID()}`;
  const isDone = await withFolder(directory, ['skills'], async (folder) => {
    try {
      await writeDraft(folder, { name, draft: `${mark}.tmp`, skill });
      return await exchange(folder, { name, mark, etag });
    } finally {
      await rm(folder.at(`${mark}.tmp`), { recursive: true, force: true });
    }
  });
  if (isDone !== true) return null;
  const after = (change: (folder: FolderHandle) => Promise<void>) => async () => {
    await withFolder(directory, ['skills'], change);
  };
  return {
    restore: after(async (folder) => {
      await rm(folder.at(name), { recursive: true, force: true });
      await putBack(folder, name, mark);
    }),
    finish: after(async (folder) => {
      for (const end of ['.old', '.old.md']) {
        await rm(folder.at(mark + end), { recursive: true, force: true });
      }
    }),
  };
}

/** Recovers replacements that were interrupted by a crash, and removes their leftovers. */
export async function mendSkills(directory: string, now: number): Promise<void> {
  await withFolder(directory, ['skills'], async (folder) => {
    for (const entry of await readdir(folder.self)) {
      const [, name, end] = leftover.exec(entry) ?? [];
      if (name === undefined || end === undefined) continue;
      const { ctimeMs } = await lstat(folder.at(entry));
      if (now - ctimeMs < abandoned) continue;
      const place = end === 'old.md' ? `${name}.md` : name;
      const isGone =
        end !== 'tmp' && !(await isThere(folder, name)) && !(await isThere(folder, place));
      if (isGone) await rename(folder.at(entry), folder.at(place));
      else await rm(folder.at(entry), { recursive: true, force: true });
    }
  });
}

const leftover = /^\.([a-z0-9-]+)\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(tmp|old|old\.md)$/;

async function writeDraft(
  folder: FolderHandle,
  { name, draft, skill }: { name: string; draft: string; skill: WrittenSkill },
): Promise<void> {
  await mkdir(folder.at(draft));
  const made = await folder.enter(draft);
  try {
    if (await isThere(folder, name)) await copyOthers(folder, name, made);
    await writeNewFile(made.at('SKILL.md'), skill.skill_md);
    await mkdir(made.at('scripts'));
    const scripts = await made.enter('scripts');
    try {
      for (const [file, content] of Object.entries(skill.scripts)) {
        await writeNewFile(scripts.at(file), content);
      }
      await scripts.sync();
    } finally {
      await scripts[Symbol.asyncDispose]();
    }
    await made.sync();
  } finally {
    await made[Symbol.asyncDispose]();
  }
}

/** Preserves files other than `SKILL.md` and `scripts`; the builder does not own them. */
async function copyOthers(folder: FolderHandle, name: string, made: FolderHandle): Promise<void> {
  const old = await folder.enter(name);
  try {
    for (const entry of await readdir(old.self)) {
      if (entry === 'SKILL.md' || entry === 'scripts') continue;
      const options = { recursive: true, verbatimSymlinks: true };
      await cp(old.at(entry), made.at(entry), options).catch((error: unknown) => {
        const { code } = error as NodeJS.ErrnoException;
        const message = `${name}/${entry} cannot be preserved (${code}); edit the skill by hand`;
        throw new SkillFileError('skill_unusable', message, { cause: error });
      });
    }
  } finally {
    await old[Symbol.asyncDispose]();
  }
}

/** Moves the old skill away, verifies its version and moves the new skill into place. */
async function exchange(
  folder: FolderHandle,
  { name, mark, etag }: { name: string; mark: string; etag: string },
): Promise<boolean> {
  const isSubdir = await isThere(folder, name);
  const [place, old] = isSubdir ? [name, `${mark}.old`] : [`${name}.md`, `${mark}.old.md`];
  try {
    await rename(folder.at(place), folder.at(old));
    if (isSubdir && (await etagIn(folder, old)) !== etag) {
      await putBack(folder, name, mark);
      return false;
    }
    await rename(folder.at(`${mark}.tmp`), folder.at(name));
    await folder.sync();
    return true;
  } catch (error) {
    await putBack(folder, name, mark);
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error instanceof SkillFileError
      ? error
      : new SkillFileError('skill_unusable', `skills/${name} cannot be written (${code})`, {
          cause: error,
        });
  }
}

async function etagIn(folder: FolderHandle, name: string): Promise<string | null> {
  const inner = await folder.enter(name);
  try {
    const skill = await readSubdir(inner);
    return skill === null ? null : etagOf(skill);
  } finally {
    await inner[Symbol.asyncDispose]();
  }
}

async function putBack(folder: FolderHandle, name: string, mark: string): Promise<void> {
  if (await isThere(folder, `${mark}.old`)) await rename(folder.at(`${mark}.old`), folder.at(name));
  const flat = `${mark}.old.md`;
  if (await isThere(folder, flat)) await rename(folder.at(flat), folder.at(`${name}.md`));
}

async function isThere(folder: FolderHandle, name: string): Promise<boolean> {
  return lstat(folder.at(name)).then(
    () => true,
    () => false,
  );
}
