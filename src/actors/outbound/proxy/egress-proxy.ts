import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { EgressScope } from '../../ports/egress.ts';
import type { Log } from '../../ports/log.ts';
import { makeRunFolder, runSocket } from '../../process/process.ts';
import type { Answer } from './answer.ts';
import { answer, forward } from './forward.ts';
import { type Pass, Passes } from './passes.ts';
import { type ProxyPass, shownPass } from './proxy-pass.ts';
import { refuse, type TunnelPorts, tunnel } from './tunnel.ts';

/** Connection limits of the proxy; times in milliseconds. */
export interface ProxyLimits {
  /** Maximum concurrent connections of one pass. */
  connections: number;
  /** Time after which an idle connection is closed. */
  idle: number;
  /** Time until a request's headers must be complete. */
  headers: number;
}

export type { ProxyPass } from './proxy-pass.ts';

export interface EgressProxyOptions {
  egress: TunnelPorts['egress'];
  log: Log;
  /** 64 connections, 60 s and 10 s by default. */
  limits?: Partial<ProxyLimits>;
}

/** Egress of child processes: a loopback proxy that attributes each request to a scope. */
export interface EgressProxy {
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Path of the proxy's UNIX socket, for a sandbox without network. */
  readonly socketPath: string;
  admit(scope: EgressScope): ProxyPass;
  close(): Promise<void>;
}

const usualLimits: ProxyLimits = { connections: 64, idle: 60_000, headers: 10_000 };

const loopback = '127.0.0.1';

/** Maximum concurrent connections; further ones are closed without being read. */
const mostConnections = 1024;

/**
 * Starts the proxy for the outgoing requests of skill scripts (docs/contract/egress.md).
 *
 * Accepts CONNECT and plain `http://` requests with a valid pass, and checks each one against the egress policy.
 * Implemented on `node:http`: relaying between two sockets is little code, and the refusals are specific to this proxy.
 * Rejects when it cannot listen.
 */
export async function startEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const limits = { ...usualLimits, ...options.limits };
  const passes = new Passes();
  const sockets = new Set<Duplex>();
  const ports: TunnelPorts = { egress: options.egress, log: options.log, idle: limits.idle };
  const servers = [0, 1].map(() => proxyServer({ ports, passes, sockets, limits }));
  const folder = await makeRunFolder();
  const socketPath = join(folder, runSocket);
  const close = async () => {
    passes.releaseAll();
    for (const server of servers) server.close();
    for (const socket of sockets) socket.destroy();
    await rm(folder, { recursive: true, force: true });
  };
  const port = await listening(servers, socketPath).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  // Closes the proxy's own port: a script could otherwise reach the proxy through itself.
  options.egress.listensAt({ address: loopback, port });
  return {
    port,
    socketPath,
    admit(scope) {
      const pass = passes.admit(scope);
      return { ...shownPass(pass, port), release: () => passes.release(pass) };
    },
    close,
  };
}

/** Listens on loopback and on a UNIX socket, and returns the port. */
async function listening(servers: readonly Server[], socketPath: string): Promise<number> {
  const [onLoopback, onSocket] = servers as [Server, Server];
  onLoopback.listen(0, loopback);
  onSocket.listen(socketPath);
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return (onLoopback.address() as AddressInfo).port;
}

interface ProxyServerOptions {
  ports: TunnelPorts;
  passes: Passes;
  sockets: Set<Duplex>;
  limits: ProxyLimits;
}

function proxyServer({ ports, passes, sockets, limits }: ProxyServerOptions): Server {
  const admitted = admission(passes, limits.connections);
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    requireHostHeader: false,
    headersTimeout: limits.headers,
    // Interval at which Node checks for late headers.
    connectionsCheckingInterval: limits.headers,
  });
  server.maxConnections = mostConnections;
  // Prevents pipelining: several requests would share one counted connection.
  server.maxRequestsPerSocket = 1;
  server.setTimeout(limits.idle, (socket) => socket.destroy());
  server.on('connection', (socket: Duplex) => {
    sockets.add(socket);
    socket.on('error', ignore).on('close', () => sockets.delete(socket));
  });
  server.on('request', (request, response) => {
    response.on('error', ignore);
    const pass = admitted(request, request.socket);
    if ('status' in pass) answer(response, pass);
    else void forward(ports, pass, request, response);
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const pass = admitted(request, socket);
    if ('status' in pass) refuse(socket, pass);
    else void tunnel(ports, pass, request.url ?? '', socket, head);
  });
  return server;
}

/** Returns a function that validates a request's pass and counts its connection on it, or returns the refusal. */
function admission(passes: Passes, most: number) {
  return (request: IncomingMessage, socket: Duplex): Pass | Answer => {
    const pass = passes.find(request.headers['proxy-authorization']);
    if (pass === null) return { status: 407, text: 'this proxy needs the pass of a running tool' };
    if (pass.held.size >= most) {
      return { status: 503, text: `a tool may have ${most} connections at once; close some` };
    }
    pass.held.add(socket);
    socket.once('close', () => pass.held.delete(socket));
    return pass;
  };
}

/** Ignores errors of a disconnecting peer. */
function ignore(): void {}
