import { createParser } from 'eventsource-parser';

/** One event of a stream; `data` is parsed. */
export interface StreamedEvent {
  id: string | undefined;
  event: string | undefined;
  data: any;
}

/** Reads server-sent events off a response, one at a time. */
export class EventReader {
  readonly response: Response;
  readonly comments: string[] = [];
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #abort: AbortController;
  readonly #events: StreamedEvent[] = [];
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ id, event, data }) => this.#events.push({ id, event, data: JSON.parse(data) }),
    onComment: (comment) => this.comments.push(comment),
  });

  constructor(response: Response, abort: AbortController) {
    if (response.body === null) throw new Error(`no stream: ${response.status}`);
    this.response = response;
    this.#reader = response.body.getReader();
    this.#abort = abort;
  }

  /** Returns the next event, or `undefined` once the stream has ended. */
  async next(): Promise<StreamedEvent | undefined> {
    while (this.#events.length === 0) if (!(await this.read())) return undefined;
    return this.#events.shift();
  }

  /** Takes in one more piece of the stream; false once it has ended. */
  async read(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (done) return false;
    this.#parser.feed(this.#decoder.decode(value, { stream: true }));
    return true;
  }

  /** Returns the events up to and including the first that matches. */
  async until(matches: (event: StreamedEvent) => boolean): Promise<StreamedEvent[]> {
    const events: StreamedEvent[] = [];
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the stream ended after ${JSON.stringify(events)}`);
      events.push(event);
      if (matches(event)) return events;
    }
  }

  /** Returns the events up to and including the first status of this state. */
  untilState(state: string): Promise<StreamedEvent[]> {
    return this.until(({ event, data }) => event === 'status' && data.status.state === state);
  }

  /** Returns all events that are left. */
  async rest(): Promise<StreamedEvent[]> {
    const events: StreamedEvent[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) {
      events.push(event);
    }
    return events;
  }

  /** Breaks the connection. */
  leave(): void {
    this.#abort.abort();
  }
}
