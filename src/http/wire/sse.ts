import { PassThrough } from 'node:stream';
import type { Context } from 'koa';

/** Bytes that may wait for a slow reader before its stream is closed (contract section 5). */
const maximumBacklog = 1024 * 1024;

/** Milliseconds between the comments that keep an idle connection open (contract section 5). */
const heartbeatEvery = 15_000;

/** A stream of server-sent events to one client. */
export class EventStream {
  readonly #stream = new PassThrough({ highWaterMark: maximumBacklog });
  readonly #heartbeat: NodeJS.Timeout;

  /** Answers a request with a stream; `onGone` is called once when the client, not we, ended it. */
  constructor(ctx: Context, onGone: () => void) {
    ctx.type = 'text/event-stream';
    ctx.set('Cache-Control', 'no-store, no-transform');
    ctx.set('X-Accel-Buffering', 'no');
    ctx.body = this.#stream;
    this.#heartbeat = setInterval(() => this.#write(': keep-alive\n\n'), heartbeatEvery).unref();
    this.#stream.once('close', () => {
      clearInterval(this.#heartbeat);
      if (!this.#stream.writableEnded) onGone();
    });
  }

  /** Sends one event; the data goes out as one line of JSON. */
  send(id: string, event: string, data: unknown): void {
    this.#write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Ends the stream after what was sent. */
  end(): void {
    if (!this.#stream.destroyed) this.#stream.end();
  }

  #write(text: string): void {
    if (this.#stream.destroyed || this.#stream.writableEnded) return;
    this.#stream.write(text);
    if (this.#stream.readableLength + this.#stream.writableLength > maximumBacklog) {
      this.#stream.destroy();
    }
  }
}
