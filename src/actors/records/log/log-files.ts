import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';

export interface FinishedFile {
  path: string;
  /** Number of its first line in the log, from 1. */
  first: number;
}

const digits = 12;

/**
 * Returns the files of a log, oldest first and the current one last, for the path of the current one. Empty if there is
 * no log; deleted files are not included.
 */
export function logFilesOf(path: string): string[] {
  const finished = finishedFilesOf(path).map((file) => file.path);
  return existsSync(path) ? [...finished, path] : finished;
}

/** Returns the finished files of a log, oldest first. */
export function finishedFilesOf(path: string): FinishedFile[] {
  const { dir, name, ext } = parse(path);
  return namesIn(dirname(path))
    .flatMap((found): FinishedFile[] => {
      if (!found.startsWith(`${name}-`) || !found.endsWith(ext)) return [];
      const number = found.slice(name.length + 1, found.length - ext.length);
      const isNumber = number.length >= digits && /^\d+$/u.test(number);
      return isNumber ? [{ path: join(dir, found), first: Number(number) }] : [];
    })
    .toSorted((one, other) => one.first - other.first);
}

/** Returns the path of the finished file that starts with line `first`. */
export function finishedPath(path: string, first: number): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}-${String(first).padStart(digits, '0')}${ext}`);
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
