import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ToolError } from '../../ports/tool.ts';
import { type AgentFiles, findPlace, hiddenFrom, writeRefusal } from './agent-files.ts';
import { fileFailure } from './file-failure.ts';
import type { FolderHandle } from './folder-handle.ts';
import { openFolder } from './open-folder.ts';

/** Maximum bytes of a file that a tool reads. */
export const largestFile = 10 * 1024 * 1024;

/** A text file and its permissions. */
export interface FileText {
  text: string;
  /** Permissions, such as 0o644. */
  mode: number;
}

/** The intended access to a file. */
type FileIntent = 'read' | 'write';

/**
 * Resolves a path from a model. Rejects with a ToolError for a path that the tool may not use, or for the agent's
 * folder itself.
 */
export async function placeOf(
  tool: string,
  files: AgentFiles,
  path: string,
  intent: FileIntent,
): Promise<{ folders: string[]; name: string }> {
  const place = await findPlace(files, path, (names) =>
    intent === 'read' ? hiddenFrom(files, names) : writeRefusal(files, names),
  );
  if ('refusal' in place) {
    throw new ToolError(`${tool}: ${place.refusal}`, { kind: 'file refused' });
  }
  const folders = [...place.names];
  const name = folders.pop();
  if (name === undefined) throw fileFailure(tool, { code: 'EISDIR' });
  return { folders, name };
}

/** Reads a text file of the agent at a path from a model. Rejects with a ToolError. */
export async function readTextFile(
  tool: string,
  files: AgentFiles,
  path: string,
  intent: FileIntent = 'read',
): Promise<FileText> {
  const { folders, name } = await placeOf(tool, files, path, intent);
  try {
    const folder = await openFolder(files, folders);
    try {
      return await readEntry(tool, folder, name);
    } finally {
      await folder[Symbol.asyncDispose]();
    }
  } catch (error) {
    throw fileFailure(tool, error);
  }
}

async function readEntry(tool: string, folder: FolderHandle, name: string): Promise<FileText> {
  const { content, stats } = await readBytes(folder, name, largestFile);
  if (content === null) throw unreadable(tool, 'is larger than 10 MiB');
  const text = decoded(content);
  if (text === null) throw unreadable(tool, 'is no text in UTF-8');
  return { text, mode: stats.mode & 0o777 };
}

/**
 * Reads a file in a folder without following links; `null` if it is larger than `most` bytes. Rejects with an Error
 * with a `code`.
 */
export async function readBytes(
  folder: FolderHandle,
  name: string,
  most: number,
): Promise<{ content: Buffer | null; stats: Stats }> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
  const file = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  try {
    const stats = await file.stat();
    if (stats.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
    if (!stats.isFile()) throw Object.assign(new Error('no file'), { code: 'no file' });
    return { content: stats.size > most ? null : await readAtMost(file, most), stats };
  } finally {
    await file.close();
  }
}

/** The file may grow while it is read. */
async function readAtMost(file: FileHandle, most: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of file.createReadStream({ autoClose: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > most) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** Decodes a text file, including its byte order mark; `null` if it is not text. */
export function decoded(content: Buffer): string | null {
  if (content.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return null;
  }
}

function unreadable(tool: string, why: string): ToolError {
  return new ToolError(`${tool}: the file at argument path ${why}`, { kind: 'file unusable' });
}
