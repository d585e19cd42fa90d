import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type Koa from 'koa';
import type { Ids } from '../actors/ports/ids.ts';
import { answerClientErrors, type Exchange } from './answer-client-error.ts';
import { limitConnections, mostConnections } from './limit-connections.ts';
import { rawRefusal } from './raw-refusal.ts';
import type { RequestState } from './request-state.ts';

/** Number of further ports tried if the caller named no port (docs/contract/command.md). */
const furtherPorts = 10;

/** The requested port is not available. */
export class ListenError extends Error {
  readonly code = 'cannot_listen';
}

/** The address to listen on. */
export interface ListenOptions {
  host: string;
  port: number;
  /** True for a port named by the caller. Otherwise the next ten ports are tried, then any free port. */
  isFixed: boolean;
  ids: Ids;
  /** Timeouts in milliseconds for receiving a request's headers and the whole request. */
  arrival?: { headers: number; request: number; checkedEvery: number };
  /** Maximum number of concurrent connections; derived from the open-file limit when absent. */
  connections?: number;
  /** Proxies exempt from the per-address connection limit. */
  trustedProxies?: readonly string[];
}

const usualArrival = { headers: 15_000, request: 30_000, checkedEvery: 5_000 };

/**
 * Serves an app and returns once it listens. Only the receipt of a request has a time limit; the request may then be
 * held as long as its task takes. Throws ListenError.
 */
export async function listen(app: Koa<RequestState>, options: ListenOptions): Promise<Server> {
  const { host, port, isFixed } = options;
  const further = isFixed || port === 0 ? [] : [...countFrom(port + 1, furtherPorts), 0];
  let failure: NodeJS.ErrnoException | null = null;
  for (const candidate of [port, ...further]) {
    const server = createHardenedServer(app, options);
    failure = await tryListen(server, host, candidate);
    if (failure === null) return server;
    if (failure.code !== 'EADDRINUSE') break;
  }
  throw new ListenError(describe(failure, host, port), { cause: failure });
}

function countFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => first + at).filter((port) => port <= 65_535);
}

function createHardenedServer(
  app: Koa<RequestState>,
  {
    ids,
    arrival = usualArrival,
    connections = mostConnections(),
    trustedProxies = [],
  }: ListenOptions,
): Server {
  const handle = app.callback();
  const exchanges = new WeakMap<Duplex, Exchange>();
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    exchanges.set(request.socket, { request, response });
    void handle(request, response);
  };
  const server = createServer(
    {
      headersTimeout: arrival.headers,
      requestTimeout: arrival.request,
      connectionsCheckingInterval: arrival.checkedEvery,
    },
    serve,
  );
  server.timeout = 0;
  server.maxHeadersCount = 0;
  // Without these listeners Node would answer on its own or close the connection silently.
  server.on('checkExpectation', serve);
  server.on('connect', (_: IncomingMessage, socket: Duplex) => refuseTunnel(socket, ids.next()));
  server.on(
    'clientError',
    answerClientErrors({ ids, exchangeOn: (socket) => exchanges.get(socket) }),
  );
  limitConnections(server, { most: connections, ids, trustedProxies });
  return server;
}

function refuseTunnel(socket: Duplex, correlationId: string): void {
  socket.on('error', () => undefined);
  const refusal = { status: 501, error: 'CONNECT is not supported; this is no proxy' };
  socket.end(rawRefusal(refusal, correlationId), () => socket.destroy());
}

function tryListen(
  server: Server,
  host: string,
  port: number,
): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen({ host, port }, () => {
      server.off('error', resolve);
      resolve(null);
    });
  });
}

function describe(error: NodeJS.ErrnoException | null, host: string, port: number): string {
  if (error?.code === 'EADDRINUSE') {
    return `port ${port} on ${host} is taken by another program; name another with --port`;
  }
  if (error?.code === 'EACCES') {
    return `this user may not listen on port ${port}; name one above 1023 with --port`;
  }
  const reason = error?.code ?? error?.message ?? 'unknown';
  return `cannot listen on ${host}:${port} (${reason}); check --host and --port`;
}
