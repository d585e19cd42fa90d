import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';

/** Bytes of a file that daemons and commands leave for each other. */
const longest = 64 * 1024;

/**
 * Reads a small file of a folder that may be anybody's: no link is followed, nothing is waited for. `null` when it
 * is not there, is no file or too long, or does not pass `check`.
 */
export function readSmallFile(
  path: string,
  check: (stat: Stats) => boolean = () => true,
): string | null {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(file);
      if (!stat.isFile() || stat.size > longest || !check(stat)) return null;
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
