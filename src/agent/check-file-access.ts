import { dirname, join, resolve } from 'node:path';
import type { ServiceConfig } from '../actors/config/config.ts';
import type { Log } from '../actors/ports.ts';
import { checkUsable } from '../actors/process/process.ts';
import { openFilesLimit } from '../http/limit-connections.ts';

/** Fewer open files than this run out as soon as a few scripts run at once. */
const fewFiles = 256;

/**
 * Checks that this user may use the files of an agent, wherever its configuration puts them, and warns of a
 * process that may open too few. Throws ForeignFileError.
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
