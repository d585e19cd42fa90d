import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { loadConfig } from '../../actors/config/config.ts';
import { logFilesOf } from '../../actors/records/records.ts';
import { resolveInside } from '../../actors/tools/tools.ts';
import { Problem } from '../../http/wire/problem.ts';
import { plainLine } from '../plain-text.ts';
import { lenientEnvironment } from './lenient-environment.ts';

/** Bytes of a log that are verified while somebody waits. */
const largestLog = 1024 ** 3;

/** The files of an agent's audit log that may be shown. */
export interface AuditFiles {
  /** The current file as `service.yaml` names it, absolute. */
  path: string;
  /** All files with their links resolved, oldest first; empty when there is no log. */
  files: string[];
}

/**
 * Finds the audit log of an agent. Whoever wrote `service.yaml` names its path, which could be any file of this
 * machine. Rejects with a 409 Problem for a log that lies outside of the
 * agent's folder, is no file or is too long.
 */
export async function auditFilesOf(directory: string, env: NodeJS.ProcessEnv): Promise<AuditFiles> {
  const loaded = loadConfig(directory, await lenientEnvironment(directory, env));
  const path = resolve(directory, loaded.ok ? loaded.config.audit.path : '.service/audit.ndjson');
  const folder = await realpath(directory);
  const files: string[] = [];
  let size = 0;
  for (const file of logFilesOf(path)) {
    const found = await resolveInside(folder, file);
    if (found.kind === 'outside') throw refused(file, "lies outside of the agent's folder, at");
    if (found.kind === 'missing') continue;
    const facts = await stat(found.path);
    if (!facts.isFile()) throw refused(file, 'has something that is no file:');
    size += facts.size;
    if (size > largestLog) throw refused(file, 'is longer than 1 GiB:');
    files.push(found.path);
  }
  return { path, files };
}

function refused(file: string, why: string): Problem {
  return new Problem(409, {
    error: plainLine(`the audit log ${why} ${file}`),
    hint: plainLine(`verify it with: ${commandLine(`audit verify ${quoted(file)}`)}`),
  });
}

function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
