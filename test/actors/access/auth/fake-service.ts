import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';

/** How a service answers one call. */
export type Reply = (response: ServerResponse) => void;

/** One call, as it came. */
export interface Call {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A service on loopback that answers as a test wants, and notes every call. */
export interface FakeService {
  url: string;
  calls: Call[];
  reply: Reply;
}

/** Answers with a JSON document, or with a string as it is. */
export function says(document: unknown, status = 200): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof document === 'string' ? document : JSON.stringify(document));
  };
}

/** Answers with the head alone and then with a blank every few milliseconds, without end. */
export const drips: Reply = (response) => {
  response.writeHead(200);
  response.flushHeaders();
  const drip = setInterval(() => response.write(' '), 5);
  response.once('close', () => clearInterval(drip));
};

/** Sends to a place on the same service. */
export const redirects: Reply = (response) => {
  response.writeHead(307, { location: '/elsewhere' });
  response.end();
};

/** Never answers. */
export const hangs: Reply = () => undefined;

/** Breaks the connection. */
export const dies: Reply = (response) => void response.destroy();

/** Starts a service that is closed after the test. */
export async function startFakeService(reply: Reply): Promise<FakeService> {
  const server = createServer();
  const service: FakeService = { url: await listenOnLoopback(server), calls: [], reply };
  server.on('request', (request, response) => {
    const { method = '', url = '', headers } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      service.calls.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      service.reply(response);
    });
  });
  return service;
}
