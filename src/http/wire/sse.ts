import { PassThrough } from 'node:stream';
import type { Context } from 'koa';

/** Characters that may wait for a slow reader before its stream is closed (contract section 5). */
const maximumBacklog = 1024 * 1024;

/** Milliseconds between the comments that keep an idle connection open (contract section 5). */
const heartbeatEvery = 15_000;

/** Heartbeats after which a client that has taken nothing of more than the backlog is let go. */
const patience = 4;

/** One event of a stream; the data goes out as one line of JSON. */
export interface StreamEvent {
  id: string;
  /** Its name; the stream of a protocol that has none leaves it out. */
  event?: string;
  data: object;
}

interface WaitingEvent extends StreamEvent {
  /** True for a piece of text that the next piece may be added to. */
  isText: boolean;
  /** What it adds to the backlog. */
  size: number;
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
  /** Characters of the event that the client is being sent. */
  #inFlight = 0;
  #missedBeats = 0;
  #isBlocked = false;
  #isOver = false;
  #isLetGo = false;

  /**
   * Answers a request with a stream. `onClosed` is called once when it ends before `end` or
   * `finish`, and is told whether the client left or was let go for being slow.
   */
  constructor(ctx: Context, onClosed: (why: 'left' | 'slow') => void) {
    ctx.body = this.#stream;
    ctx.set('Content-Type', 'text/event-stream');
    ctx.set('Cache-Control', 'no-store, no-transform');
    ctx.set('X-Accel-Buffering', 'no');
    // A client that has missed nothing would otherwise hear of its success with the next event.
    ctx.flushHeaders();
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatEvery).unref();
    this.#stream.on('drain', () => this.#writeWaiting());
    this.#stream.once('close', () => {
      clearInterval(this.#heartbeat);
      this.#waiting.length = 0;
      if (this.#isOver) return;
      this.#isOver = true;
      onClosed(this.#isLetGo ? 'slow' : 'left');
    });
  }

  /** Sends one event. */
  send(event: StreamEvent): void {
    this.#put(event, false);
  }

  /** Sends a piece of text; pieces that have to wait go out together, under the last id. */
  sendText(event: StreamEvent & { data: { text: string; [key: string]: unknown } }): void {
    const last = this.#waiting.at(-1);
    if (last?.isText !== true) return this.#put(event, true);
    const { id, data } = event;
    last.id = id;
    last.data = { ...data, text: `${Reflect.get(last.data, 'text')}${data.text}` };
    last.size += data.text.length;
    this.#grow(data.text.length);
  }

  /** Sends the last events, which no backlog holds up because nothing follows them. */
  finish(events: readonly StreamEvent[]): void {
    if (this.#isOver) return;
    this.#waiting.push(...events.map((event) => ({ ...event, isText: false, size: 0 })));
    this.end();
  }

  /** Ends the stream after what was sent. */
  end(): void {
    this.#isOver = true;
    if (!this.#isBlocked) this.#writeWaiting();
  }

  #put(event: StreamEvent, isText: boolean): void {
    if (this.#isOver) return;
    const text = frame(event);
    if (!this.#isBlocked) return this.#write(text);
    this.#waiting.push({ ...event, isText, size: text.length });
    this.#grow(text.length);
  }

  #grow(size: number): void {
    this.#backlog += size;
    // One event that waits is never too much: a reader who comes back must get past it.
    if (this.#backlog > maximumBacklog && this.#waiting.length > 1) this.#letGo();
  }

  #letGo(): void {
    this.#isLetGo = true;
    this.#stream.destroy();
  }

  #writeWaiting(): void {
    this.#isBlocked = false;
    this.#missedBeats = 0;
    while (!this.#isBlocked) {
      const event = this.#waiting.shift();
      if (event === undefined) break;
      this.#backlog -= event.size;
      this.#write(frame(event));
    }
    if (this.#isOver && this.#waiting.length === 0 && !this.#stream.destroyed) this.#stream.end();
  }

  #write(text: string): void {
    if (this.#stream.destroyed) return;
    this.#inFlight = text.length;
    this.#isBlocked = !this.#stream.write(text);
  }

  #beat(): void {
    if (!this.#isBlocked && !this.#isOver) return this.#write(': keep-alive\n\n');
    this.#missedBeats += 1;
    const isStuck = this.#missedBeats >= patience;
    if (isStuck && this.#inFlight + this.#backlog > maximumBacklog) this.#letGo();
  }
}

function frame({ id, event, data }: StreamEvent): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `id: ${id}\n${name}data: ${JSON.stringify(data)}\n\n`;
}
