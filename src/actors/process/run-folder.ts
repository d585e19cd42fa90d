import { lstat, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
// oxlint-disable-next-line no-restricted-imports -- a socket in a folder of ours leads nowhere outside
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The socket that a daemon answers in its folder for as long as it runs. */
export const runSocket = 'egress.sock';

/** A name that nobody gives a folder of their own. */
const runFolderName = /^holdpoint-\d+-[A-Za-z0-9]{6}$/;

/** Milliseconds in which a daemon that starts has come to answer. */
const startTime = 60_000;

/** Makes the temporary folder of this process, which nobody else may look into. */
export async function makeRunFolder(): Promise<string> {
  return mkdtemp(join(await realpath(tmpdir()), `holdpoint-${process.pid}-`));
}

/**
 * Removes the temporary folders of this user whose daemon was killed, and lets all others be. A daemon that
 * lives answers its socket, which says more than its process id: that may be somebody else's by now, or be
 * counted in another container. Never rejects.
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
    // One that is there and cannot take a connection now still has its daemon.
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    );
  });
}
