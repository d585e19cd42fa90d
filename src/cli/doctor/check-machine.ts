import { createServer } from 'node:net';
import { isAlive, readServeFile } from '../../actors/process/process.ts';
import { mostConnections } from '../../http/limit-connections.ts';
import type { Finding, Subject } from './check.ts';

const oldestNode = 24;
const usualPort = 8080;
const usualHost = '127.0.0.1';

/** Checks that this Node can run agents. */
export function checkNode(found: string = process.versions.node): Finding {
  if (Number.parseInt(found, 10) >= oldestNode) return { status: 'pass', message: `Node ${found}` };
  return {
    status: 'fail',
    message: `Node ${found} is too old; ${oldestNode} or newer is needed`,
    fix: `install Node ${oldestNode} or newer`,
  };
}

/** Fewest connections that an agent should be able to hold open: every parked call holds one. */
const fewConnections = 1_000;

/** Checks that the process may open enough files for the requests it holds. */
export function checkConnections(most: number = mostConnections()): Finding {
  const message = `up to ${most} connections are served at once`;
  if (most >= fewConnections) return { status: 'pass', message };
  return {
    status: 'warn',
    message: `${message}, since this process may open few files`,
    fix: 'raise the limit before the agent starts, such as with ulimit -n 4096',
  };
}

/** Checks that the port which the agent runs on, or a start takes first, is its own or can be had. */
export async function checkPort({ stateFolder }: Subject, usual = usualPort): Promise<Finding> {
  const served = readServeFile(stateFolder);
  const isOwn = served !== null && isAlive(served.pid);
  const port = isOwn ? served.port : usual;
  const error = await tryListen(port, isOwn ? served.host : usualHost);
  if (error === null) return { status: 'pass', message: `port ${port} is free` };
  if (isOwn) {
    return { status: 'pass', message: `port ${port} serves this agent (process ${served.pid})` };
  }
  if (error === 'EADDRINUSE') {
    return { status: 'pass', message: `port ${port} is taken; a start takes another free port` };
  }
  return {
    status: 'warn',
    message: `port ${port} cannot be used (${error})`,
    fix: 'name another with --port',
  };
}

function tryListen(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host }, () => server.close(() => resolve(null)));
  });
}
