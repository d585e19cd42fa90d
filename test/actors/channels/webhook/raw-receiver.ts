import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** How the receiver answers: with a status and headers, by breaking the connection, or not at all. */
export type RawAnswer = { status: number; headers?: OutgoingHttpHeaders } | 'reset' | 'silence';

/** A request as it came over the wire. */
export interface RawPost {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver on 127.0.0.1 that keeps the bytes it was sent, as a check of a signature needs them. */
export class RawReceiver {
  readonly posts: RawPost[] = [];
  /** What it answers to the next requests; 204 to any later one. */
  readonly answers: RawAnswer[] = [];
  /** Says what it answers to one request; `null` leaves that to `answers`. */
  answerTo: (post: RawPost) => RawAnswer | null = () => null;
  readonly port: number;
  #heard = Promise.withResolvers<void>();

  private constructor(port: number) {
    this.port = port;
  }

  /** Opens a receiver, which is closed after the test. */
  static async open(): Promise<RawReceiver> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url, headers } = request;
        const post = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
        receiver.posts.push(post);
        const answer = receiver.answerTo(post) ?? receiver.answers.shift() ?? { status: 204 };
        if (answer === 'reset') request.socket.destroy();
        else if (answer !== 'silence') response.writeHead(answer.status, answer.headers).end('ok');
        receiver.#heard.resolve();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const receiver = new RawReceiver((server.address() as AddressInfo).port);
    return receiver;
  }

  /** Resolves once a request has come. */
  get heard(): Promise<void> {
    return this.#heard.promise;
  }
}
