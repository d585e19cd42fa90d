import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { RequestState } from '../request-state.ts';
import type { Traffic } from '../traffic.ts';

/** Characters that may wait for a slow reader before its stream is closed (docs/contract/transports.md). */
const maximumBacklog = 1024 * 1024;

/** One event of a stream; the data goes out as one line of JSON. */
export interface StreamEvent {
  /** The position in a stream that can be resumed; absent in one that cannot. */
  id?: string;
  /** Its name; the stream of a protocol that has none leaves it out. */
  event?: string;
  data: object;
}

interface WaitingEvent extends StreamEvent {
  /** True for a piece of text that the next piece may be added to. */
  isText: boolean;
  /** The bytes that it adds to the backlog. */
  size: number;
}

/**
 * A stream of server-sent events to one client. Events queue behind the one being sent; a client whose queue grows too
 * long, or who reads nothing for a while, is disconnected and may resume later.
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
   * Answers a request with a stream. Calls `onClosed` once when the stream closes before `end` or `finish`, with
   * whether the client left or was disconnected for being slow, as it is with more than `mostWaiting` events unread.
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
    // Written without Koa, so that what the connection has taken shows.
    ctx.respond = false;
    ctx.status = 200;
    ctx.set('Content-Type', 'text/event-stream');
    ctx.set('Cache-Control', 'no-store, no-transform');
    ctx.set('X-Accel-Buffering', 'no');
    // A client that has missed nothing would otherwise hear of its success with the next event.
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
    // A client who left while the answer was sought does so no second time.
    if (res.destroyed) process.nextTick(close);
    else res.once('close', close);
    if (ctx.method === 'HEAD') res.end();
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
    if (id !== undefined) last.id = id;
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
    // One event that waits is never too much: a reader who comes back must get past it.
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
