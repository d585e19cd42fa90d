import type { Clock } from '../ports/clock.ts';
import { rest } from '../rest.ts';
import { mergeTexts } from './merge-texts.ts';

/** Maximum bytes of one piece. */
const largestPiece = 64 * 1024;

/** Longest interval that other streams cause, in milliseconds. */
const longestInterval = 1_000;

/** Reason of an abort; the default one costs a stack trace. */
const over = 'the stream is over';

/** Pieces of all streams in a second. One takes some 150 µs, so tasks get most of a processor. */
const mostPieces = 2_000;

/**
 * Paces the streams of an agent's models, so that they cost by time instead of by tokens. The bytes of a stream are read
 * at most once per interval, and events that only add to the same text become one. The first bytes pass at once. Many
 * streams get longer intervals. Nothing but the division into events changes.
 */
export class StreamPace {
  readonly #interval: number;
  readonly #clock: Clock;
  #open = 0;

  /** `interval` is in milliseconds; 0 passes every stream as it is. */
  constructor(interval: number, clock: Clock) {
    this.#interval = interval;
    this.#clock = clock;
  }

  /** Wraps the fetch of a model provider. */
  wrap(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    if (this.#interval === 0) return fetch;
    return async (input, init) => {
      const response = await fetch(input, init);
      const { status, statusText, headers, body, ok } = response;
      const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
      if (body === null || !ok || !isStream) return response;
      return new Response(this.#paced(body), { status, statusText, headers });
    };
  }

  #paced(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const chunks = new ChunkReader(body);
    const events = new EventText();
    const left = new AbortController();
    let resting: Promise<void> | null = null;
    return new ReadableStream(
      {
        pull: async (controller) => {
          try {
            if (resting === null) {
              // A stream that nobody reads slows no other.
              this.#open += 1;
              left.signal.addEventListener('abort', () => void (this.#open -= 1));
              resting = Promise.resolve();
            }
            let piece = '';
            while (piece === '' && !chunks.isOver) {
              await resting;
              piece = events.take(await chunks.read(), chunks.isOver);
              if (piece !== '') resting = this.#rest(left.signal);
            }
            if (left.signal.aborted) return;
            if (piece !== '') controller.enqueue(Buffer.from(piece));
            if (!chunks.isOver) return;
            left.abort(over);
            controller.close();
          } catch (error) {
            left.abort(over);
            throw error;
          }
        },
        cancel: async (reason) => {
          left.abort(over);
          await chunks.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }

  #rest(signal: AbortSignal): Promise<void> {
    const shared = Math.min(longestInterval, (this.#open * 1_000) / mostPieces);
    return rest(Math.max(this.#interval, shared), this.#clock, signal);
  }
}

/** Reads what has arrived of a body. */
class ChunkReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #next: ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']> | null = null;
  isOver = false;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /**
   * Waits for a chunk; returns it with all that have arrived by then, up to the size of a piece. A failure of the body
   * is thrown after the chunks before it were returned.
   */
  async read(): Promise<Uint8Array[]> {
    const chunks: Uint8Array[] = [await this.#read()];
    const turn = new Promise<null>((resolve) => setImmediate(resolve, null));
    let size = chunks[0]?.length ?? 0;
    while (!this.isOver && size < largestPiece) {
      this.#next ??= this.#reader.read();
      const hasArrived = await Promise.race([this.#next.then(Boolean, () => null), turn]);
      if (hasArrived === null) break;
      const chunk = await this.#read();
      chunks.push(chunk);
      size += chunk.length;
    }
    return chunks;
  }

  /** An empty chunk is the end. */
  async #read(): Promise<Uint8Array> {
    const { done, value } = await (this.#next ?? this.#reader.read());
    this.#next = null;
    this.isOver = done;
    return value ?? new Uint8Array();
  }

  async cancel(reason: unknown): Promise<void> {
    await this.#reader.cancel(reason);
  }
}

/** Cuts text into complete events. */
class EventText {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #rest = '';

  /** Returns the complete events of the text so far, with texts merged; at the end also an incomplete one. */
  take(chunks: readonly Uint8Array[], isOver: boolean): string {
    const added = chunks.map((chunk) => this.#decoder.decode(chunk, { stream: true })).join('');
    const text = this.#rest + added + (isOver ? this.#decoder.decode() : '');
    const end = isOver ? text.length : endOfEvents(text);
    this.#rest = text.slice(end);
    return mergeTexts(text.slice(0, end));
  }
}

/** An event that is larger than a piece passes in parts. */
function endOfEvents(text: string): number {
  const ends = ['\n\n', '\r\n\r\n'].map((blank) => {
    const at = text.lastIndexOf(blank);
    return at < 0 ? 0 : at + blank.length;
  });
  return Math.max(...ends) || (text.length > largestPiece ? text.length : 0);
}
