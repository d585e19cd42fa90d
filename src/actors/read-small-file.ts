import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';

/** Maximum size in bytes of files exchanged between daemons and commands. */
const longest = 64 * 1024;

/**
 * Reads a small file of an untrusted folder without following links or blocking. Returns `null` if it is missing, not a
 * regular file, too long or fails `check`.
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
