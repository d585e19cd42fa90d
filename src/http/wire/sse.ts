import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { RequestState } from '../request-state.ts';
import type { Traffic } from '../traffic.ts';
import { EventQueue, frame, type StreamEvent, type TextEvent } from './event-queue.ts';

/**
 * A stream of server-sent events to one client. Events are queued behind the one being sent. A client whose queue
 * becomes too long, or that reads nothing for a while, is disconnected and may resume later.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #traffic: Traffic;
  readonly #queue: EventQueue;
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
    const { res } = ctx;
    const { traffic, keepAlive } = ctx.state as RequestState;
    this.#response = res;
    this.#traffic = traffic;
    this.#queue = new EventQueue(mostWaiting);
    sendHeaders(ctx);
    const rest = keepAlive.comments.start(() => this.#beat());
    res.on('drain', () => this.#writeWaiting());
    res.on('timeout', () => this.#disconnect());
    const close = (): void => {
      rest();
      this.#close(onClosed);
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
  sendText(event: TextEvent): void {
    if (this.#queue.append(event)) this.#bound(event.data.text.length);
    else this.#put(event, true);
  }

  /** Sends the last events. They ignore the backlog limit, because no event follows them. */
  finish(events: readonly StreamEvent[]): void {
    if (this.#isOver) return;
    this.#queue.addLast(events);
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
    this.#queue.add(event, { isText, size: text.length });
    this.#bound(text.length);
  }

  /** Disconnects the client if too much waits, or if all streams together have no room for `size` characters more. */
  #bound(size: number): void {
    const hasRoom = this.#traffic.mayKeep(size);
    this.#countWaiting();
    if (this.#queue.isTooLong || !hasRoom) this.#disconnect();
  }

  #disconnect(): void {
    this.#isLetGo = true;
    this.#response.destroy();
  }

  #close(onClosed: (why: 'left' | 'slow') => void): void {
    this.#queue.clear();
    this.#count(0);
    if (this.#isOver) return;
    this.#isOver = true;
    onClosed(this.#isLetGo ? 'slow' : 'left');
  }

  #writeWaiting(): void {
    this.#isBlocked = false;
    this.#response.setTimeout(0);
    while (!this.#isBlocked) {
      const text = this.#queue.take();
      if (text === null) break;
      this.#write(text);
    }
    this.#countWaiting();
    if (this.#isOver && this.#queue.isEmpty && !this.#response.destroyed) this.#response.end();
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
    const { writableLength } = this.#response;
    this.#count(this.#isBlocked ? writableLength + this.#queue.backlog : 0);
  }

  #count(bytes: number): void {
    this.#traffic.add(bytes - this.#unread);
    this.#unread = bytes;
  }
}

function sendHeaders(ctx: Context): void {
  // Bypasses Koa, so that the backpressure of the connection is visible.
  ctx.respond = false;
  ctx.status = 200;
  ctx.set('Content-Type', 'text/event-stream');
  ctx.set('Cache-Control', 'no-store, no-transform');
  ctx.set('X-Accel-Buffering', 'no');
  // Otherwise the client would receive the headers only with the first event.
  ctx.flushHeaders();
}
