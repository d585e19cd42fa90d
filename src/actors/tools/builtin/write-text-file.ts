import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, rename, unlink } from 'node:fs/promises';
import { codeOf } from '../../../machines/error-code.ts';
import { ToolError } from '../../ports/tool.ts';
import type { AgentFiles } from './agent-files.ts';
import { fileFailure } from './file-failure.ts';
import { placeOf } from './file-text.ts';
import type { FolderHandle } from './folder-handle.ts';
import { openFolder } from './open-folder.ts';

export interface FileContent {
  path: string;
  text: string;
  /** True to replace an existing file; otherwise an existing file is an error. */
  isReplaced: boolean;
}

/** Writes to an agent's files run one after the other, so that no edit undoes another. */
let last: Promise<unknown> = Promise.resolve();

/** Runs an operation that reads and writes a file exclusively. */
export function oneAtATime<Result>(run: () => Promise<Result>): Promise<Result> {
  const own = last.then(run);
  last = own.catch(() => undefined);
  return own;
}

/**
 * Writes a text file of the agent atomically, and creates missing parent folders. Returns whether the file is new.
 * Rejects with a ToolError.
 */
export async function writeTextFile(
  tool: string,
  files: AgentFiles,
  { path, text, isReplaced }: FileContent,
): Promise<boolean> {
  const { folders, name } = await placeOf(tool, files, path, 'write');
  try {
    const folder = await openFolder(files, folders, { isMade: true });
    try {
      const before = await standing(folder, name);
      if (before !== null && !isReplaced) throw taken(tool);
      await replace(folder, name, text, before);
      return before === null;
    } finally {
      await folder[Symbol.asyncDispose]();
    }
  } catch (error) {
    throw fileFailure(tool, error);
  }
}

/** Returns the permissions of an existing file; `null` if there is none. Rejects if the path is not a file. */
async function standing(folder: FolderHandle, name: string): Promise<number | null> {
  const stats = await lstat(folder.at(name)).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (stats === null) return null;
  if (stats.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
  if (stats.isSymbolicLink()) throw Object.assign(new Error('a link'), { code: 'ELOOP' });
  if (!stats.isFile()) throw Object.assign(new Error('no file'), { code: 'no file' });
  return stats.mode & 0o777;
}

async function replace(
  folder: FolderHandle,
  name: string,
  text: string,
  mode: number | null,
): Promise<void> {
  const draft = folder.at(`.holdpoint-${randomUUID()}.tmp`);
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const file = await open(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o666);
  try {
    try {
      if (mode !== null) await file.chmod(mode);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, folder.at(name));
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
  await folder.sync();
}

function taken(tool: string): ToolError {
  const message = `${tool}: there is a file at argument path already; set overwrite to true to replace it`;
  return new ToolError(message, { kind: 'file exists' });
}
