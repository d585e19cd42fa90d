import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** A file of the agent is not accessible to the user who starts it; the message names the owner. */
export class ForeignFileError extends Error {
  readonly code = 'file_unusable';
}

/**
 * Checks, before any file is opened, that files are readable and writable, folders writable, and missing paths can be
 * created. Throws ForeignFileError that names the first failing path and its owner.
 */
export function checkUsable(paths: readonly string[]): void {
  for (const path of paths) {
    const found = nearest(path);
    const { isFolder, isUsable } = usability(found);
    if (isUsable && (isFolder || found === path)) continue;
    throw new ForeignFileError(`${found} ${complaint(found, isFolder)}`);
  }
}

/** Returns the path itself, or the folder in which it would be created. */
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
