import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { RequestState } from '../request-state.ts';
import type { Traffic } from '../traffic.ts';

/**
 * Maximum number of characters buffered for a slow reader before its stream is closed (docs/contract/transports.md).
 */
const maximumBacklog = 1024 * 1024;

/** One event of a stream; the data is sent as one line of JSON. */
export interface StreamEvent {
  /** The position in a resumable stream; absent in other streams. */
  id?: string;
  /** Name of the event; absent in streams of a protocol without event names. */
  event?: string;
  data: object;
}

interface WaitingEvent extends StreamEvent {
  /** True for a text piece to which the next piece may be appended. */
  isText: boolean;
  /** Number of bytes that the event adds to the backlog. */
  size: number;
}

/**
 * A stream of server-sent events to one client. Events are queued behind the one being sent. A client whose queue
 * becomes too long, or that reads nothing for a while, is disconnected and may resume later.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #traffic: Traffic;
  readonly #mostWaiting: number;
  readonly #waiting: WaitingEvent[] = [];
  #backlog = 0;
  /** The number of bytes counted as unread. */
  #unread = 0;
  #isBlocked = false;
  #isOver = false;
  #isLetGo = false;

  /**
   * Answers a request with a stream. Calls `onClosed` once if the stream closes before `end` or `finish`; its argument
   * tells whether the client disconnected or was disconnected for being slow. More than `mostWaiting` unread events
   * count as slow.
   */
  constructor(
    ctx: Context,
    onClosed: (why: 'left' | 'slow') => void,
    mostWaiting = Number.POSITIVE_INFINITY,
  ) {
    this.#mostWaiting = mostWaiting;
    const { res } = ctx;
    this.#response = res;
    const { traffic, keepAlive } = ctx.state as RequestState;
    this.#traffic = traffic;
    // Bypasses Koa, so that the backpressure of the connection is visible.
    ctx.respond = false;
    ctx.status = 200;
    ctx.set('Content-Type', 'text/event-stream');
    ctx.set('Cache-Control', 'no-store, no-transform');
    ctx.set('X-Accel-Buffering', 'no');
    // Otherwise the client would receive the headers only with the first event.
    ctx.flushHeaders();
    const rest = keepAlive.comments.start(() => this.#beat());
    res.on('drain', () => this.#writeWaiting());
    res.on('timeout', () => this.#disconnect());
    const close = (): void => {
      rest();
      this.#waiting.length = 0;
      this.#count(0);
      if (this.#isOver) return;
      this.#isOver = true;
      onClosed(this.#isLetGo ? 'slow' : 'left');
    };
    // If the client disconnected earlier, no `close` event follows.
    if (res.destroyed) process.nextTick(close);
    else res.once('close', close);
    if (ctx.method === 'HEAD') res.end();
  }

  /** Sends one event. */
  send(event: StreamEvent): void {
    this.#put(event, false);
  }

  /** Sends a piece of text. Pieces that must wait are combined under the last ID. */
  sendText(event: StreamEvent & { data: { text: string; [key: string]: unknown } }): void {
    const last = this.#waiting.at(-1);
    if (last?.isText !== true) return this.#put(event, true);
    const { id, data } = event;
    if (id !== undefined) last.id = id;
    last.data = { ...data, text: `${Reflect.get(last.data, 'text')}${data.text}` };
    last.size += data.text.length;
    this.#grow(data.text.length);
  }

  /** Sends the last events. They ignore the backlog limit, because no event follows them. */
  finish(events: readonly StreamEvent[]): void {
    if (this.#isOver) return;
    this.#waiting.push(...events.map((event) => ({ ...event, isText: false, size: 0 })));
    this.end();
  }

  /** Ends the stream after the queued events. */
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
    const hasRoom = this.#traffic.mayKeep(size);
    this.#backlog += size;
    this.#countWaiting();
    // A single waiting event never exceeds the limit: otherwise a resuming client could never get past it.
    const isTooMuch = this.#backlog > maximumBacklog && this.#waiting.length > 1;
    const isTooMany = this.#waiting.length > this.#mostWaiting;
    if (isTooMuch || isTooMany || !hasRoom) this.#disconnect();
  }

  #disconnect(): void {
    this.#isLetGo = true;
    this.#response.destroy();
  }

  #writeWaiting(): void {
    this.#isBlocked = false;
    this.#response.setTimeout(0);
    while (!this.#isBlocked) {
      const event = this.#waiting.shift();
      if (event === undefined) break;
      this.#backlog -= event.size;
      this.#write(frame(event));
    }
    this.#countWaiting();
    if (this.#isOver && this.#waiting.length === 0 && !this.#response.destroyed)
      this.#response.end();
  }

  #write(text: string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    if (!this.#traffic.mayHave(text.length)) return this.#disconnect();
    this.#isBlocked = !this.#response.write(text);
    if (!this.#isBlocked) return;
    this.#traffic.limitStall(this.#response);
    this.#countWaiting();
  }

  #beat(): void {
    if (!this.#isBlocked && !this.#isOver) this.#write(': keep-alive\n\n');
  }

  #countWaiting(): void {
    this.#count(this.#isBlocked ? this.#response.writableLength + this.#backlog : 0);
  }

  #count(bytes: number): void {
    this.#traffic.add(bytes - this.#unread);
    this.#unread = bytes;
  }
}

function frame({ id, event, data }: StreamEvent): string {
  const position = id === undefined ? '' : `id: ${id}\n`;
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${position}${name}data: ${JSON.stringify(data)}\n\n`;
}
