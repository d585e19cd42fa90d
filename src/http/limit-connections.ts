import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Ids } from '../actors/ports.ts';
import { rawRefusal } from './raw-refusal.ts';

/** Most connections that are served at once, however many files the process may open. */
const mostEver = 20_000;

/** Least connections that are served at once, however few files the process may open. */
const leastEver = 16;

/** Connections beyond the limit that are told so at once; any more are closed without a word. */
const refusedAtOnce = 32;

/** Milliseconds that a refused caller is given to read why. */
const lingering = 1_000;

/**
 * Serves at most so many connections at once; one more is answered with 503 and closed. It is to
 * be called before the server listens.
 */
export function limitConnections(server: Server, { most, ids }: { most: number; ids: Ids }): void {
  const serving = server.listeners('connection') as ((socket: Socket) => void)[];
  let open = 0;
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    if (open >= most) return refuse(socket, ids.next());
    open += 1;
    socket.once('close', () => (open -= 1));
    for (const serve of serving) serve.call(server, socket);
  });
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

function refuse(socket: Socket, correlationId: string): void {
  const cutOff = setTimeout(() => socket.destroy(), lingering);
  socket.on('error', () => undefined);
  socket.once('end', () => socket.destroy());
  socket.once('close', () => clearTimeout(cutOff));
  // What the caller has sent is read and dropped: closing on unread bytes would take the answer back.
  socket.resume();
  socket.end(
    rawRefusal(
      {
        status: 503,
        error: 'too many connections; try again',
        headers: ['Retry-After: 1'],
      },
      correlationId,
    ),
  );
}

/** The report of the process is the one place where Node tells; addresses and variables are left out of it. */
function openFilesLimit(): number {
  Object.assign(process.report, { excludeNetwork: true, excludeEnv: true });
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const limit = userLimits?.open_files?.soft;
  return typeof limit === 'number' ? limit : Number.MAX_SAFE_INTEGER;
}
