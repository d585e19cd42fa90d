import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';

/** How a receiver answers: with a status, or by breaking the connection. */
export type ReceiverAnswer = number | 'reset';

/** A request that reached a receiver. */
export interface ReceivedNote {
  headers: IncomingHttpHeaders;
  body: any;
  answered: ReceiverAnswer;
}

/** A receiver of push notifications on 127.0.0.1; each path is a receiver of its own. */
export class WebhookReceiver {
  readonly #server: Server;
  readonly #notes = new Map<string, ReceivedNote[]>();
  readonly #answers = new Map<string, ReceiverAnswer[]>();

  private constructor() {
    this.#server = createServer((request, response) => {
      const path = request.url ?? '';
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const answered = this.#answers.get(path)?.shift() ?? 200;
        const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
        this.#notes.set(path, [...this.all(path), { headers: request.headers, body, answered }]);
        if (answered === 'reset') request.socket.destroy();
        else response.writeHead(answered).end();
      });
    });
  }

  /** Opens a receiver, which the caller closes. */
  static async open(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Has a path answer its next requests so, and every later one with 200. */
  answer(path: string, ...answers: ReceiverAnswer[]): void {
    this.#answers.set(path, answers);
  }

  /** Every request that has reached a path. */
  all(path: string): ReceivedNote[] {
    return this.#notes.get(path) ?? [];
  }

  /** Resolves with the requests that have reached a path, once there are so many. */
  async received(path: string, count: number): Promise<ReceivedNote[]> {
    await vi.waitUntil(() => this.all(path).length >= count, { timeout: 15_000, interval: 5 });
    return this.all(path);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
