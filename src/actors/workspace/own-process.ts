import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { isLoopback } from '../../machines/loopback.ts';
import { localUrl } from '../../machines/url-of.ts';
import { AgentConnection } from '../agent-connection.ts';
import type { Clock } from '../ports/clock.ts';
import {
  agentProof,
  holdsFile,
  isAlive,
  isSameProof,
  readOwnToken,
  type ServeFile,
} from '../process/process.ts';
import { systemClock } from '../system-clock.ts';

/** Timeout of a listener's identity proof, in milliseconds, used if nothing else identifies it. */
const patience = 2_000;

/**
 * Returns whether the process named by a folder's `serve.json` is that folder's agent. The file may be outdated or
 * untrusted, and the process id reused. The process must hold the folder's lock or, if that cannot be determined, prove
 * that it has the key.
 */
export async function isOwnProcess(directory: string, served: ServeFile): Promise<boolean> {
  if (!isAlive(served.pid) || !isHere(served.host)) return false;
  const holds = holdsFile(served.pid, join(directory, '.service', 'daemon.lock'));
  if (holds !== null) return holds;
  const connection = connectTo(directory, served);
  try {
    const signal = AbortSignal.timeout(patience);
    const { body } = await connection.send({
      method: 'GET',
      path: '/healthz',
      accept: 'application/json',
      signal,
    });
    await body.dump();
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

/** Creates a connection to a folder's agent that sends only that folder's own token. */
export function connectTo(
  directory: string,
  served: ServeFile,
  clock: Clock = systemClock(),
): AgentConnection {
  const { port, proof_key: key } = served;
  const endpoint = {
    url: localUrl(served),
    token: readOwnToken(directory),
    isProof: (challenge: string, answer: string) =>
      isSameProof(answer, agentProof(key, challenge, port)),
  };
  return new AgentConnection(endpoint, clock);
}

/** An untrusted folder could name any host; only this machine is ever contacted. */
function isHere(host: string): boolean {
  if (isLoopback(host) || host === '0.0.0.0' || host === '::') return true;
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return addresses.some(({ address }) => address === host);
}
