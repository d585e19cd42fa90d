import { existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { codeOf } from '../../machines/error-code.ts';

/** The user's state cannot be stored or trusted; the message gives reason and remedy. */
export class StateFolderError extends Error {
  readonly code = 'agent_list_unusable';
}

/** Returns the user's state folder, `$XDG_STATE_HOME/holdpoint`; `null` for a user without a home directory. */
export function stateFolderOf(env: NodeJS.ProcessEnv): string | null {
  const named = env['XDG_STATE_HOME'];
  if (named !== undefined && isAbsolute(named)) return join(named, 'holdpoint');
  const home = homeOf(env);
  return home === null ? null : join(home, '.local', 'state', 'holdpoint');
}

function homeOf(env: NodeJS.ProcessEnv): string | null {
  const named = env['HOME'];
  if (named !== undefined && isAbsolute(named)) return named;
  try {
    return userInfo().homedir;
  } catch {
    return null;
  }
}

/**
 * Creates a folder if it would belong to this user; root with another user's HOME creates none. Throws
 * StateFolderError.
 */
export function makeStateFolder(folder: string): void {
  const missing: string[] = [];
  let above = folder;
  for (; !existsSync(above); above = dirname(above)) missing.unshift(above);
  if (statSync(above).uid !== process.getuid?.()) throw new StateFolderError(notOwn(above));
  // Created one at a time: Node's recursive mkdir never returns below a path such as /proc.
  for (const path of missing) makeOne(path);
  assertOwnFolder(folder);
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another agent of this user may create it concurrently.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/**
 * Throws StateFolderError for a folder that other users can write to: they could direct a command to their own agent.
 */
export function assertOwnFolder(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  if (uid !== process.getuid?.()) throw new StateFolderError(notOwn(folder));
  if (!lstatSync(folder).isDirectory()) throw new StateFolderError(`${folder} is no folder`);
  if ((mode & 0o022) !== 0) {
    throw new StateFolderError(`others may write in ${folder}; take that away with chmod go-w`);
  }
}

function notOwn(path: string): string {
  return `${path} belongs to another user`;
}
