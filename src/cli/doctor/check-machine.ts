import { createServer } from 'node:net';
import { mayServe, readServeFile } from '../../actors/process/process.ts';
import { mostConnections } from '../../http/limit-connections.ts';
import type { Finding, Subject } from './check.ts';

const oldestNode = 24;
const usualPort = 8080;
const usualHost = '127.0.0.1';

/** Checks that the installed Node version can run agents. */
export function checkNode(found: string = process.versions.node): Finding {
  if (Number.parseInt(found, 10) >= oldestNode) return { status: 'pass', message: `Node ${found}` };
  return {
    status: 'fail',
    message: `Node ${found} is too old; ${oldestNode} or newer is needed`,
    fix: `install Node ${oldestNode} or newer`,
  };
}

/** Recommended minimum of open connections for an agent. Every held call keeps one connection open. */
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

/** Checks the port that the agent uses, or that a start would try first: it must be free or belong to the agent. */
export async function checkPort({ stateFolder }: Subject, usual = usualPort): Promise<Finding> {
  const served = readServeFile(stateFolder);
  const isOwn = served !== null && mayServe(served.pid, stateFolder);
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
