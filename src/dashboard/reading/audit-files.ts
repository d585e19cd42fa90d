import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { loadConfig } from '../../actors/config/config.ts';
import { logFilesOf, type OpenLogFile } from '../../actors/records/records.ts';
import { resolveInside } from '../../actors/tools/tools.ts';
import { lenientEnvironment } from '../../agent/start/lenient-environment.ts';
import { Problem } from '../../http/wire/problem.ts';
import { plainLine } from '../../machines/plain-line.ts';
import { shellWord } from '../../machines/shell-word.ts';

/** The files of an agent's audit log. They stay open until `close`. */
export interface OpenAuditLog {
  /** Absolute path of the current file named by `service.yaml`. */
  path: string;
  /** Oldest first; empty if there is no log. */
  files: OpenLogFile[];
  close: () => Promise<void>;
}

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Links that give the current path of each open file. */
const descriptors = '/proc/self/fd';

/**
 * Opens an agent's audit log. The author of `service.yaml` chooses the log's path, which could point to any file on
 * this machine, and may replace the file at any time. The check and the read therefore use the same open file. Rejects
 * with a 409 Problem for a log outside the agent's folder or a log that is not a regular file.
 *
 * @param openFile opens a path like `open` of `node:fs/promises`
 */
export async function openAuditLog(
  directory: string,
  env: NodeJS.ProcessEnv,
  openFile: typeof open = open,
): Promise<OpenAuditLog> {
  const loaded = loadConfig(directory, await lenientEnvironment(directory, env));
  const path = resolve(directory, loaded.ok ? loaded.config.audit.path : '.service/audit.ndjson');
  const folder = await realpath(directory);
  const files: OpenLogFile[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(files.map(({ handle }) => handle.close()));
  };
  try {
    for (const name of logFilesOf(path)) {
      const file = await openInside(folder, name, openFile);
      if (file !== null) files.push(file);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { path, files, close };
}

/** Opens one file of a log; `null` if it no longer exists. */
async function openInside(
  folder: string,
  name: string,
  openFile: typeof open,
): Promise<OpenLogFile | null> {
  const found = await resolveInside(folder, name);
  if (found.kind === 'missing') return null;
  if (found.kind === 'outside') throw outside(name);
  const handle = await openFile(found.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      if (code === 'ELOOP') throw outside(name);
      throw error;
    },
  );
  if (handle === null) return null;
  try {
    const facts = await handle.stat({ bigint: true });
    if (!facts.isFile()) throw refused(name, 'has something that is no file:');
    if (!(await liesInside(folder, found.path, { fd: handle.fd, ...facts }))) throw outside(name);
    const { dev, ino, size, mtimeNs, ctimeNs } = facts;
    return {
      path: found.path,
      handle,
      size: Number(size),
      ...{ id: `${dev}:${ino}`, version: `${size}:${mtimeNs}:${ctimeNs}` },
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A parent folder may have been replaced by a link between resolving and opening the path. */
async function liesInside(
  folder: string,
  path: string,
  opened: { fd: number; dev: bigint; ino: bigint },
): Promise<boolean> {
  const own = await realpath(`${descriptors}/${opened.fd}`).catch(() => path);
  const found = await resolveInside(folder, own);
  if (found.kind !== 'inside') return false;
  const { dev, ino } = await stat(found.path, { bigint: true });
  return dev === opened.dev && ino === opened.ino;
}

function outside(file: string): Problem {
  return refused(file, "lies outside of the agent's folder, at");
}

/** Builds the refusal of a log, with the command that verifies the log. */
export function refused(file: string, why: string): Problem {
  return new Problem('audit_log_unusable', plainLine(`the audit log ${why} ${file}`), {
    hint: plainLine(`verify it with: ${commandLine(`audit verify ${shellWord(file)}`)}`),
  });
}
