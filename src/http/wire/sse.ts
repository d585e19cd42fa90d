import { PassThrough } from 'node:stream';
import type { Context } from 'koa';

/** Characters that may wait for a slow reader before its stream is closed (contract section 5). */
const maximumBacklog = 1024 * 1024;

/** Milliseconds between the comments that keep an idle connection open (contract section 5). */
const heartbeatEvery = 15_000;

interface WaitingEvent {
  id: string;
  event: string;
  data: object;
  /** True for a piece of text that the next piece may be added to. */
  isText: boolean;
}

/**
 * A stream of server-sent events to one client. Events wait behind the one that the client is
 * being sent; a client behind whom too much waits is let go, and may come back for the rest.
 */
export class EventStream {
  readonly #stream = new PassThrough();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #waiting: WaitingEvent[] = [];
  #backlog = 0;
  #isBlocked = false;
  #isOver = false;

  /**
   * Answers a request with a stream. `onClosed` is called once when it ends before `end` or
   * `finish`, and is told whether the client left or was let go for being slow.
   */
  constructor(ctx: Context, onClosed: (why: 'left' | 'slow') => void) {
    ctx.body = this.#stream;
    ctx.set('Content-Type', 'text/event-stream');
    ctx.set('Cache-Control', 'no-store, no-transform');
    ctx.set('X-Accel-Buffering', 'no');
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatEvery).unref();
    this.#stream.on('drain', () => this.#writeWaiting());
    this.#stream.once('close', () => {
      clearInterval(this.#heartbeat);
      if (this.#isOver) return;
      this.#isOver = true;
      onClosed(this.#isTooSlow() ? 'slow' : 'left');
    });
  }

  /** Sends one event; the data goes out as one line of JSON. */
  send(id: string, event: string, data: object): void {
    this.#put({ id, event, data, isText: false });
  }

  /** Sends a piece of text; pieces that have to wait go out together, under the last id. */
  sendText(id: string, event: string, data: { text: string }): void {
    const last = this.#waiting.at(-1);
    if (last?.isText !== true) return this.#put({ id, event, data: { ...data }, isText: true });
    const before: unknown = Reflect.get(last.data, 'text');
    Object.assign(last, { id, data: { ...data, text: `${before}${data.text}` } });
    this.#grow(data.text.length);
  }

  /** Sends the last event, which no backlog holds up because nothing follows it. */
  finish(id: string, event: string, data: object): void {
    if (!this.#isOver) this.#waiting.push({ id, event, data, isText: false });
    this.end();
  }

  /** Ends the stream after what was sent. */
  end(): void {
    this.#isOver = true;
    if (!this.#isBlocked) this.#writeWaiting();
  }

  #put(event: WaitingEvent): void {
    if (this.#isOver) return;
    if (!this.#isBlocked) return this.#write(frame(event));
    this.#waiting.push(event);
    this.#grow(frame(event).length);
  }

  #grow(size: number): void {
    this.#backlog += size;
    if (this.#isTooSlow()) this.#stream.destroy();
  }

  /** One event that waits is never too much, however long it is: a reader who comes back must get past it. */
  #isTooSlow(): boolean {
    return this.#backlog > maximumBacklog && this.#waiting.length > 1;
  }

  #writeWaiting(): void {
    this.#isBlocked = false;
    this.#backlog = 0;
    while (!this.#isBlocked) {
      const event = this.#waiting.shift();
      if (event === undefined) break;
      this.#write(frame(event));
    }
    for (const event of this.#waiting) this.#backlog += frame(event).length;
    if (this.#isOver && this.#waiting.length === 0 && !this.#stream.destroyed) this.#stream.end();
  }

  #write(text: string): void {
    if (!this.#stream.destroyed) this.#isBlocked = !this.#stream.write(text);
  }

  #beat(): void {
    if (!this.#isBlocked && !this.#isOver) this.#write(': keep-alive\n\n');
  }
}

function frame({ id, event, data }: WaitingEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
