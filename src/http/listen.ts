import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type Koa from 'koa';
import type { Ids } from '../actors/ports/ids.ts';
import { answerClientErrors, type Exchange } from './answer-client-error.ts';
import { proxyTrust } from './client-address.ts';
import { limitConnections, mostConnections } from './limit-connections.ts';
import { Lingering, type LingeringLimits } from './lingering.ts';
import { type RawRefusal, rawRefusal } from './raw-refusal.ts';
import type { RequestState } from './request-state.ts';

/** Number of further ports tried if the caller named no port (docs/contract/command.md). */
const furtherPorts = 10;

/** Maximum bytes of an unread body after which its connection is used again. */
const longestRest = 64 * 1024;

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
  /** Limits of reading from clients after their answer. */
  lingering?: Partial<LingeringLimits>;
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
    lingering: limits,
  }: ListenOptions,
): Server {
  const handle = app.callback();
  const exchanges = new WeakMap<Duplex, Exchange>();
  const lingering = new Lingering(limits, proxyTrust(trustedProxies));
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    exchanges.set(request.socket, { request, response });
    if (isLong(request)) closeUnlessRead(request, response);
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
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    serve(request, response);
  });
  server.on('connect', (_: IncomingMessage, socket: Duplex) =>
    lingering.close(socket as Socket, rawRefusal(tunnel, ids.next())),
  );
  server.on(
    'clientError',
    answerClientErrors({ ids, exchangeOn: (socket) => exchanges.get(socket), lingering }),
  );
  server.on('connection', (socket: Socket) => {
    const destroySoon = socket.destroySoon.bind(socket);
    // Node calls this after the last response of a connection.
    socket.destroySoon = () => {
      if (exchanges.get(socket)?.request.complete !== false) return destroySoon();
      lingering.close(socket);
    };
  });
  const closeAll = server.closeAllConnections.bind(server);
  server.closeAllConnections = () => {
    closeAll();
    lingering.cutAll();
  };
  limitConnections(server, { most: connections, ids, trustedProxies });
  return server;
}

const tunnel: RawRefusal = {
  code: 'connect_unsupported',
  error: 'CONNECT is not supported; this is no proxy',
};

/** Returns true if the body may be too long to be discarded for the next request of the connection. */
function isLong({ headers }: IncomingMessage): boolean {
  return (
    Number(headers['content-length'] ?? 0) > longestRest ||
    headers['transfer-encoding'] !== undefined ||
    // A client may leave out a body that was refused.
    headers.expect !== undefined
  );
}

/** Closes the connection after a response that begins before the body was read. */
function closeUnlessRead(request: IncomingMessage, response: ServerResponse): void {
  const { shouldKeepAlive } = response;
  response.shouldKeepAlive = false;
  request.once('end', () => {
    response.shouldKeepAlive = shouldKeepAlive;
  });
}

/** Asks for the body of `Expect: 100-continue` when it is read, never for one that is refused. */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const onListener = (event: string | symbol): void => {
    if (event !== 'data' && event !== 'readable') return;
    request.off('newListener', onListener);
    if (!response.headersSent) response.writeContinue();
  };
  request.on('newListener', onListener);
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
