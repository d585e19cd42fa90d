import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Makes the private folder of a program, beside the socket of the proxy in the run folder of the daemon, where it is
 * found again after a kill; in the folder of the system without a proxy.
 */
export async function makePrivateHome(
  kind: 'mcp' | 'script',
  socketPath: string | undefined,
): Promise<string> {
  if (socketPath === undefined) return mkdtemp(join(await realpath(tmpdir()), 'holdpoint-'));
  return mkdtemp(join(dirname(socketPath), `${kind}-`));
}
