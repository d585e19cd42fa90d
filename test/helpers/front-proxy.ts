import { createServer, request, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** How a proxy forwards requests. */
export interface FrontProxyOptions {
  /** The host that browsers open; that of each request when absent. It is passed on. */
  host?: string;
  /** Address of the server behind. */
  target: () => string;
  /** Key and certificate in PEM; plain HTTP when absent. */
  tls?: { key: string; cert: string };
}

/** Starts a proxy that passes on the host and names the client, as a TLS proxy does; it is closed after the test. */
export async function startFrontProxy({ host, target, tls }: FrontProxyOptions): Promise<string> {
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  const url = await listenOnLoopback(server as Server);
  server.on('request', (asked, answer) => {
    const headers = { ...asked.headers, ...(host === undefined ? {} : { host }) };
    const named = { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' };
    const { method, url: path } = asked;
    const sent = request(new URL(path ?? '/', target()), {
      method,
      headers: { ...headers, ...named },
    });
    sent.on('response', (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
      got.on('error', () => answer.destroy());
    });
    sent.on('error', () => answer.destroy());
    answer.on('close', () => sent.destroy());
    asked.pipe(sent);
  });
  return tls === undefined ? url : url.replace('http:', 'https:');
}
