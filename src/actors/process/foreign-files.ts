import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** A file of the agent cannot be used by the user who starts it; the message says whose it is. */
export class ForeignFileError extends Error {
  readonly code = 'file_unusable';
}

/**
 * Checks that files can be read and written and folders be written in, before any is opened, and that missing ones
 * can be made. Throws ForeignFileError that names the first which cannot, and its owner.
 */
export function checkUsable(paths: readonly string[]): void {
  for (const path of paths) {
    const found = nearest(path);
    const { isFolder, isUsable } = usability(found);
    if (isUsable && (isFolder || found === path)) continue;
    throw new ForeignFileError(`${found} ${complaint(found, isFolder)}`);
  }
}

/** The path itself, or the folder it would be made in. */
function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

function usability(path: string): { isFolder: boolean; isUsable: boolean } {
  const isFolder = statSync(path).isDirectory();
  const { R_OK, W_OK, X_OK } = constants;
  try {
    accessSync(path, isFolder ? W_OK | X_OK : R_OK | W_OK);
    return { isFolder, isUsable: true };
  } catch {
    return { isFolder, isUsable: false };
  }
}

function complaint(path: string, isFolder: boolean): string {
  const what = isFolder ? 'written in' : 'read and written';
  const { uid } = statSync(path);
  const own = process.getuid?.() ?? uid;
  if (uid === own) return `cannot be ${what}; set its permissions, such as with chmod u+rwX`;
  const [owner, user] = [nameOf(uid), nameOf(own)];
  return `belongs to ${owner} and cannot be ${what} by ${user}; start the agent as ${owner}, or give ${user} the agent's files with chown`;
}

function nameOf(uid: number): string {
  const entry = new RegExp(`^([^:\\n]+):[^:\\n]*:${uid}:`, 'm').exec(passwords());
  return entry?.[1] === undefined ? `user ${uid}` : `${entry[1]} (${uid})`;
}

function passwords(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}
