import { lstat, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
// oxlint-disable-next-line no-restricted-imports -- a socket in a folder of ours leads nowhere outside
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Socket in the run folder that the daemon serves while it runs. */
export const runSocket = 'egress.sock';

/** Unlikely to match a user's own folder. */
const runFolderName = /^holdpoint-\d+-[A-Za-z0-9]{6}$/;

/** Time within which a starting daemon begins to serve its socket, in milliseconds. */
const startTime = 60_000;

/** Creates the temporary folder of this process, accessible to this user only. */
export async function makeRunFolder(): Promise<string> {
  return mkdtemp(join(await realpath(tmpdir()), `holdpoint-${process.pid}-`));
}

/**
 * Removes this user's temporary folders whose daemon was killed, and leaves all others. A living daemon accepts
 * connections on its socket; its process id would not be reliable, since the id may have been reused or belong to
 * another container. Never rejects.
 */
export async function sweepRunFolders(now: number = Date.now()): Promise<void> {
  const parent = await realpath(tmpdir()).catch(() => null);
  if (parent === null) return;
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((each) => runFolderName.test(each))) {
    const folder = join(parent, name);
    if (await isAbandoned(folder, now)) {
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

async function isAbandoned(folder: string, now: number): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  if (found === null || !found.isDirectory() || found.uid !== process.getuid?.()) return false;
  return now - found.mtimeMs > startTime && !(await isAnswered(join(folder, runSocket)));
}

function isAnswered(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // A socket that exists but cannot accept a connection now still has its daemon.
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    );
  });
}
