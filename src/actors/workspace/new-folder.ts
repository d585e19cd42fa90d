import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../machines/error-code.ts';
import { flushPath } from '../flush-path.ts';

/** Age after which a draft counts as abandoned, in milliseconds: filling one takes a second or two. */
const longestDraft = 600_000;

const draftName = /^\..+\.[0-9a-f]{12}\.draft$/;

/** The path already exists; the message names it. */
export class FolderTakenError extends Error {
  readonly code = 'folder_taken';
}

/**
 * Creates a folder atomically and durably: `fill` fills a hidden draft next to it, and an exception of `fill` leaves
 * nothing behind. Rejects with a FolderTakenError if the path exists.
 */
export async function newFolder(
  directory: string,
  fill: (draft: string) => Promise<void>,
): Promise<void> {
  const parent = dirname(directory);
  await mkdir(parent, { recursive: true });
  if (await isThere(directory)) throw taken(directory);
  await inDraft(parent, basename(directory), async (draft) => {
    await fill(draft);
    await flushTree(draft);
    // mkdir claims the name: a rename alone would replace another process's empty folder.
    await mkdir(directory).catch((error: unknown) => {
      throw codeOf(error) === 'EEXIST' ? taken(directory) : error;
    });
    try {
      await rename(draft, directory);
    } catch (error) {
      await rmdir(directory).catch(() => undefined);
      throw error;
    }
    await flushPath(parent);
  });
}

/**
 * Adds to a folder the entries that `fill` puts into a draft, without overwriting any; existing entries in `kept` are
 * left as they are. The file `last` is added last, so that the folder takes effect only when complete. Rejects with a
 * FolderTakenError.
 */
export async function addToFolder(
  directory: string,
  { kept, last }: { kept: readonly string[]; last: string },
  fill: (draft: string) => Promise<void>,
): Promise<void> {
  await inDraft(directory, 'new', async (draft) => {
    if (await isThere(join(directory, last))) throw taken(join(directory, last));
    await fill(draft);
    await flushTree(draft);
    const names = (await readdir(draft)).filter((name) => name !== last);
    const added: string[] = [];
    try {
      for (const name of [...names, last]) {
        const path = join(directory, name);
        if (kept.includes(name) && (await isThere(path))) continue;
        await place(join(draft, name), path);
        added.push(path);
      }
    } catch (error) {
      for (const path of added) await rm(path, { recursive: true, force: true });
      throw error;
    }
    await flushPath(directory);
  });
}

async function inDraft(
  parent: string,
  name: string,
  use: (draft: string) => Promise<void>,
): Promise<void> {
  await sweepDrafts(parent);
  const draft = join(parent, `.${name}.${randomBytes(6).toString('hex')}.draft`);
  await mkdir(draft);
  try {
    await use(draft);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Removes drafts left by killed processes. */
async function sweepDrafts(parent: string): Promise<void> {
  const left = Date.now() - longestDraft;
  for (const name of await readdir(parent)) {
    if (!draftName.test(name)) continue;
    const path = join(parent, name);
    const found = await lstat(path).catch(() => null);
    if (found?.isDirectory() === true && found.mtimeMs < left) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/**
 * A hard link, unlike a rename, never overwrites. Folders cannot be hard-linked, but a rename overwrites at most an
 * empty folder.
 */
async function place(from: string, to: string): Promise<void> {
  try {
    if ((await lstat(from)).isFile()) return await link(from, to);
    if (await isThere(to)) throw taken(to);
    await rename(from, to);
  } catch (error) {
    throw ['EEXIST', 'ENOTEMPTY'].includes(codeOf(error)) ? taken(to) : error;
  }
}

/** Flushes all files of a folder to disk. */
export async function flushTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await flushTree(path);
    else if (entry.isFile()) await flushPath(path);
  }
  await flushPath(folder);
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

function taken(path: string): FolderTakenError {
  return new FolderTakenError(`${path} is already there`);
}
