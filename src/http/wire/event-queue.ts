/**
 * Maximum number of characters buffered for a slow reader before its stream is closed (docs/contract/transports.md).
 */
const maximumBacklog = 1024 * 1024;

/** One event of a stream. */
export interface StreamEvent {
  /** The position in a resumable stream; absent in other streams. */
  id?: string;
  /** Name of the event; absent in streams of a protocol without event names. */
  event?: string;
  /** An object is sent as one line of JSON, a string as it is. */
  data: object | string;
}

/** A piece of text, to which the next piece may be appended while it waits. */
export interface TextEvent extends StreamEvent {
  data: { text: string; [key: string]: unknown };
}

interface WaitingEvent extends StreamEvent {
  isText: boolean;
  /** Number of characters that the event adds to the backlog. */
  size: number;
}

/** The events that wait for a slow reader, oldest first. */
export class EventQueue {
  readonly #most: number;
  readonly #waiting: WaitingEvent[] = [];
  #backlog = 0;

  /** More than `most` waiting events are too many. */
  constructor(most: number) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Number of waiting characters. */
  get backlog(): number {
    return this.#backlog;
  }

  /**
   * True if too much waits. A single waiting event never exceeds the limit: otherwise a resuming client could never get
   * past it.
   */
  get isTooLong(): boolean {
    const { length } = this.#waiting;
    return (this.#backlog > maximumBacklog && length > 1) || length > this.#most;
  }

  /** Adds an event whose frame has `size` characters. */
  add(event: StreamEvent, { isText, size }: { isText: boolean; size: number }): void {
    this.#waiting.push({ ...event, isText, size });
    this.#backlog += size;
  }

  /** Adds events that do not count towards the backlog, because no event follows them. */
  addLast(events: readonly StreamEvent[]): void {
    this.#waiting.push(...events.map((event) => ({ ...event, isText: false, size: 0 })));
  }

  /** Appends a piece to a piece that waits last, under its own ID. Returns false if none waits last. */
  append({ id, data }: TextEvent): boolean {
    const last = this.#waiting.at(-1);
    if (last?.isText !== true) return false;
    if (id !== undefined) last.id = id;
    last.data = { ...data, text: `${Reflect.get(Object(last.data), 'text')}${data.text}` };
    last.size += data.text.length;
    this.#backlog += data.text.length;
    return true;
  }

  /** Removes the oldest event and returns its frame; `null` if none waits. */
  take(): string | null {
    const event = this.#waiting.shift();
    if (event === undefined) return null;
    this.#backlog -= event.size;
    return frame(event);
  }

  clear(): void {
    this.#waiting.length = 0;
    this.#backlog = 0;
  }
}

/** Formats an event as server-sent events do. */
export function frame({ id, event, data }: StreamEvent): string {
  const position = id === undefined ? '' : `id: ${id}\n`;
  const name = event === undefined ? '' : `event: ${event}\n`;
  const text = typeof data === 'string' ? data.replaceAll('\n', '\ndata: ') : JSON.stringify(data);
  return `${position}${name}data: ${text}\n\n`;
}
