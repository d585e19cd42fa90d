import { accessSync, constants, mkdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const memory = '/dev/shm';

/** The bytes that tests may fill, with much to spare. */
const enough = 2 * 1024 ** 3;

/**
 * Names a folder in memory for the files of one run of tests, which otherwise wait for the disk at each commit; `null`
 * on a machine whose memory holds too few of them or lets none be executed.
 */
export function memoryFolder(): string | null {
  try {
    accessSync(memory, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(memory);
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
    const options = mounts.map((line) => line.split(' ')).find(([, at]) => at === memory)?.[3];
    const mayExecute = options !== undefined && !options.split(',').includes('noexec');
    if (!mayExecute || bavail * bsize < enough) return null;
    return join(memory, `holdpoint-test-${process.pid}`);
  } catch {
    return null;
  }
}

/** Makes the folder before the first test and removes it after the last. */
export function setup(): (() => void) | undefined {
  const folder = memoryFolder();
  if (folder === null) return undefined;
  mkdirSync(folder, { recursive: true });
  return () => rmSync(folder, { recursive: true, force: true });
}
