import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Creates the private folder of a program in the daemon's run folder, next to the proxy's socket, where it is cleaned
 * up after a crash; without a proxy, in the system's temporary folder.
 */
export async function makePrivateHome(
  kind: 'mcp' | 'script',
  socketPath: string | undefined,
): Promise<string> {
  if (socketPath === undefined) return mkdtemp(join(await realpath(tmpdir()), 'holdpoint-'));
  return mkdtemp(join(dirname(socketPath), `${kind}-`));
}
