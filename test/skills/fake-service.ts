import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { JsonValue } from '../../src/machines/json.ts';
import { listenOnLoopback } from '../helpers/listen-on-loopback.ts';

/** A request as a fake service got it. */
export interface Asked {
  method: string;
  /** With its query. */
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** What a fake service answers; a string is sent as it is. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: JsonValue;
}

/** A service on loopback for one test, which keeps what it was asked. */
export interface FakeService {
  url: string;
  /** Its host with its port, as an entry of an allowlist. */
  entry: string;
  asked: Asked[];
}

/** Starts a service that answers by the method and the path of a request, such as `GET /a`; everything else is a 404. */
export async function fakeService(answers: Record<string, Answer>): Promise<FakeService> {
  const asked: Asked[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: path = '', headers } = request;
    asked.push({ method, path, headers, body: await text(request) });
    const { pathname } = new URL(path, 'http://localhost');
    const found = answers[`${method} ${pathname}`];
    const unknown: Answer = { status: 404, body: { message: 'Not Found' } };
    const { status = 200, body, headers: more = {} } = found ?? unknown;
    response.writeHead(status, { 'content-type': 'application/json', ...more });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const server = createServer((request, response) => void answer(request, response));
  const url = await listenOnLoopback(server);
  return { url, entry: new URL(url).host, asked };
}
