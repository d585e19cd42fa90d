import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Ids } from '../actors/ports.ts';
import { ConnectionShares } from './connection-shares.ts';
import { addressGroup, proxyTrust } from './middleware/client-address.ts';
import { type RawRefusal, rawRefusal } from './raw-refusal.ts';
import { SilentConnections } from './silent-connections.ts';

/** Most connections that are served at once, however many files the process may open. */
const mostEver = 20_000;

/** Least connections that are served at once, however few files the process may open. */
const leastEver = 16;

/** Connections beyond the limit that are told so at once; any more are closed without a word. */
const refusedAtOnce = 32;

/** Milliseconds that a refused caller is given to read why. */
const lingering = 1_000;

/** Milliseconds after which an address may have no more than a few connections that have sent nothing yet. */
const usualPatience = 1_000;

/** Limits of connections, in total and by address. */
export interface ConnectionLimits {
  most: number;
  ids: Ids;
  /** Addresses, networks and named ranges of proxies: one of them may have every connection. */
  trustedProxies?: readonly string[];
  patience?: number;
}

/**
 * Limits connections in total and by address; answers one more with 503 and closes it (docs/contract/transports.md).
 * Call it before the server listens.
 */
export function limitConnections(
  server: Server,
  { most, ids, trustedProxies = [], patience = usualPatience }: ConnectionLimits,
): void {
  const serving = server.listeners('connection') as ((socket: Socket) => void)[];
  const isProxy = proxyTrust(trustedProxies);
  const shares = new ConnectionShares({ most, groupOf: addressGroup, isProxy });
  const close = (socket: Socket): void => {
    socket.end(rawRefusal(tooSlow, ids.next()), () => socket.destroy());
  };
  const silent = new SilentConnections({ patience, close });
  let refusals = 0;
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    const leave = shares.take(address);
    if (leave === null) {
      if (refusals >= refusedAtOnce) return void socket.destroy();
      refusals += 1;
      socket.once('close', () => (refusals -= 1));
      return refuse(socket, ids.next());
    }
    if (!isProxy(address)) silent.add(socket, addressGroup(address));
    socket.once('close', () => {
      silent.delete(socket);
      leave();
    });
    for (const serve of serving) serve.call(server, socket);
  });
  server.on('request', ({ socket }) => silent.delete(socket));
  server.maxConnections = most + refusedAtOnce;
}

/**
 * Says how many connections leave files over for the rest of the daemon, its store and the
 * processes of its tools. `openFiles` is how many files the process may have open.
 */
export function mostConnections(openFiles: number = openFilesLimit()): number {
  const kept = Math.max(100, Math.ceil(openFiles / 10)) + refusedAtOnce;
  return Math.min(mostEver, Math.max(leastEver, openFiles - kept));
}

const tooMany: RawRefusal = {
  status: 503,
  error: 'too many connections; try again',
  headers: ['Retry-After: 1'],
};

const tooSlow: RawRefusal = {
  status: 408,
  error: 'too many connections of this address wait for a request; send it at once',
};

function refuse(socket: Socket, correlationId: string): void {
  const cutOff = setTimeout(() => socket.destroy(), lingering);
  socket.on('error', () => undefined);
  socket.once('end', () => socket.destroy());
  socket.once('close', () => clearTimeout(cutOff));
  // What the caller has sent is read and dropped: closing on unread bytes would take the answer back.
  socket.resume();
  socket.end(rawRefusal(tooMany, correlationId));
}

/**
 * Says how many files this process may open. The report of the process is the one place where Node tells;
 * addresses and variables are left out of it.
 */
export function openFilesLimit(): number {
  Object.assign(process.report, { excludeNetwork: true, excludeEnv: true });
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const limit = userLimits?.open_files?.soft;
  return typeof limit === 'number' ? limit : Number.MAX_SAFE_INTEGER;
}
