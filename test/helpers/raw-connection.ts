import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A connection to an agent on which a test writes and reads as it likes, until the test has finished. */
export class RawConnection {
  readonly socket: Socket;
  /** Resolves once nothing more can come back. */
  readonly closed: Promise<void>;
  /** What came back, so far. */
  text = '';
  #wake: () => void = () => undefined;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    this.socket.on('error', () => undefined);
    this.socket.setEncoding('latin1').on('data', (piece: string) => {
      this.text += piece;
      this.#wake();
    });
    this.closed = new Promise((closed) => {
      this.socket.once('end', closed).once('close', closed);
    });
    onTestFinished(() => void this.socket.destroy());
  }

  /** Writes a POST of a JSON body. */
  post(path: string, body: object, { version = '1.1', headers = '' } = {}): void {
    const text = JSON.stringify(body);
    this.socket.write(
      `POST ${path} HTTP/${version}\r\nHost: a\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }

  /** Resolves with all that came back once it matches. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    return this.text;
  }
}
