import { dirname, join, resolve } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import type { Log } from '../../actors/ports/log.ts';
import { checkUsable } from '../../actors/process/process.ts';
import { openFilesLimit } from '../../http/limit-connections.ts';

/** A few concurrent scripts exhaust a limit below this number of open files. */
const fewFiles = 256;

/**
 * Checks that the current user can access an agent's files at every configured location. Warns if the process's
 * open-file limit is too low. Throws ForeignFileError.
 */
export function checkFileAccess(
  directory: string,
  { store, audit }: ServiceConfig,
  log: Log,
): void {
  const stateFolder = join(directory, '.service');
  const files = [store.path, audit.path].map((path) => resolve(directory, path));
  checkUsable([
    ...[stateFolder, join(stateFolder, 'daemon.lock'), join(stateFolder, 'runtime.token')],
    ...files.flatMap((path) => [dirname(path), path]),
  ]);
  const most = openFilesLimit();
  if (most >= fewFiles) return;
  const message = `this process may open ${most} files, too few for tools under load; raise the limit before the start, such as with ulimit -n 4096`;
  log.warn({}, message);
}
