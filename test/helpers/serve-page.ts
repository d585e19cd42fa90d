import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { sendPageFile } from './built-page.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** Answers a path of the API, with a `Response` where more than JSON is to say, or `undefined` for 404. */
export type PageApi = (url: URL, body: unknown, request: IncomingMessage) => unknown;

/** The page of the dashboard as it is built, with an API that a test makes up. */
export interface PageServer {
  url: string;
  /** Every request to the API that may change something, as `POST /api/…`. */
  changes: string[];
  /** Sends an event to every page that is open. */
  push(event: string, data: unknown): void;
}

/** Serves the page as it is built until the test is over. */
export async function servePage(api: PageApi): Promise<PageServer> {
  const streams = new Set<ServerResponse>();
  const changes: string[] = [];
  let last = 0;
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/api/events') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(': open\n\n');
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    if (!url.pathname.startsWith('/api/')) return sendPageFile(url.pathname, response);
    const chunks = await Array.fromAsync<Buffer>(request);
    const sent = Buffer.concat(chunks).toString();
    if (request.method !== 'GET') changes.push(`${request.method} ${url.pathname} ${sent}`);
    const body = await api(url, sent === '' ? null : JSON.parse(sent), request);
    if (body instanceof Response) return sendResponse(body, response);
    response.setHeader('Content-Type', 'application/json');
    response.statusCode = body === undefined ? 404 : 200;
    response.end(JSON.stringify(body ?? { error: 'task not found', code: 'task_not_found' }));
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ error: String(error) }));
    });
  });
  return {
    url: await listenOnLoopback(server),
    changes,
    push: (event, data) => {
      last += 1;
      for (const stream of streams) {
        stream.write(`id: ${last}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      }
    },
  };
}

async function sendResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}
