import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { isLoopback } from '../../machines/loopback.ts';
import { localUrl } from '../../machines/url-of.ts';
import { AgentConnection } from '../agent-connection.ts';
import {
  agentProof,
  holdsFile,
  isAlive,
  isSameProof,
  readOwnToken,
  type ServeFile,
} from '../process/process.ts';

/** Milliseconds that a listener has to prove who it is, where nothing else can tell. */
const patience = 2_000;

/**
 * Tells whether the process that a folder's `serve.json` names is the agent of that folder, since the file may be old,
 * its process id another program's, or its content anybody's: it holds the lock of the folder, or, where nobody can
 * know that, proves to know the key.
 */
export async function isOwnProcess(directory: string, served: ServeFile): Promise<boolean> {
  if (!isAlive(served.pid) || !isHere(served.host)) return false;
  const holds = holdsFile(served.pid, join(directory, '.service', 'daemon.lock'));
  if (holds !== null) return holds;
  const connection = connectTo(directory, served);
  try {
    const signal = AbortSignal.timeout(patience);
    const { body } = await connection.send({
      ...{ method: 'GET', path: '/healthz', accept: 'application/json', signal },
    });
    await body.dump();
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

/** Opens a connection to the agent of a folder, which is shown the token of that folder alone. */
export function connectTo(directory: string, served: ServeFile): AgentConnection {
  const { port, proof_key: key } = served;
  return new AgentConnection({
    url: localUrl(served),
    token: readOwnToken(directory),
    isProof: (challenge, answer) => isSameProof(answer, agentProof(key, challenge, port)),
  });
}

/** A folder from elsewhere could name any host; no other machine is ever asked. */
function isHere(host: string): boolean {
  if (isLoopback(host) || host === '0.0.0.0' || host === '::') return true;
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return addresses.some(({ address }) => address === host);
}
