import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The databases that have the logs of agents, by the paths of their files, which are copies that come later. */
const databases = new Map<string, string>();

/** Has the log of an agent read from a database from now on, in the place of its file. */
export function keepLogIn(url: string, path: string): void {
  databases.set(path, url);
}

/** Reads a log as it is committed at this moment. */
export function readLog(path: string): string {
  const url = databases.get(path);
  if (url === undefined) return readFileSync(path, 'utf8');
  // Loaded where it is needed: the tests of an agent in this process start no other.
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  const script = join(import.meta.dirname, 'print-log-process.ts');
  const options = { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 } as const;
  return execFileSync(process.execPath, [script, url], { ...options, stdio: 'pipe' });
}
