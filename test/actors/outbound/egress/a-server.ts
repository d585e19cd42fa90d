import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';

/** One request as the server got it. */
export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The port of the connection it came over. */
  from: number;
}

/** A server on 127.0.0.1 with configured answers that closes with its test. */
export async function aServer(
  answer: (request: SeenRequest, response: ServerResponse) => void = (_request, response) =>
    void response.end('hello'),
): Promise<{ port: number; seen: SeenRequest[] }> {
  const seen: SeenRequest[] = [];
  const server = createServer((incoming, response) => {
    void readBody(incoming).then((body) => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body, from: incoming.socket.remotePort ?? 0 };
      seen.push(request);
      answer(request, response);
    });
  });
  const { port } = new URL(await listenOnLoopback(server));
  return { port: Number(port), seen };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of incoming.setEncoding('utf8')) body += String(chunk);
  return body;
}
