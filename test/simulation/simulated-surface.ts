import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import type Koa from 'koa';
import type { RequestState } from '../../src/http/request-state.ts';
import type { JsonObject } from '../../src/machines/json.ts';

/** An answer of a surface. */
export interface SurfaceAnswer {
  status: number;
  body: JsonObject;
}

/** The HTTP surface of a simulated agent, over connections in memory. */
export class SimulatedSurface {
  readonly #server: Server;
  readonly #connections = new Set<Duplex>();

  constructor(app: Koa<RequestState>) {
    const handle = app.callback();
    this.#server = createServer((asked, answer) => void handle(asked, answer));
  }

  /** Sends a request on a connection of its own. Rejects when the connection breaks or the caller gives up. */
  ask(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    { body, prefer, signal }: { body?: object; prefer?: string; signal?: AbortSignal } = {},
  ): Promise<SurfaceAnswer> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      host: 'localhost',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...(prefer === undefined ? {} : { prefer }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<SurfaceAnswer>();
    const createConnection = () => this.#connect();
    const options = { method, path, headers, createConnection, ...(signal ? { signal } : {}) };
    const sent = request(options, (response) => {
      readAnswer(response).then(resolve, reject);
    });
    sent.on('error', reject);
    sent.end(text);
    return promise;
  }

  /** Breaks every connection, as the end of a process does. */
  cut(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  #connect(): Duplex {
    const [near, far] = duplexPair();
    for (const end of [near, far]) {
      this.#connections.add(end);
      end.once('close', () => this.#connections.delete(end));
      end.on('error', () => undefined);
    }
    // Each end of a real connection notices that the other one is gone.
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
    this.#server.emit('connection', far);
    return near;
  }
}

async function readAnswer(response: IncomingMessage): Promise<SurfaceAnswer> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode ?? 0, body: JSON.parse(text) as JsonObject };
}
