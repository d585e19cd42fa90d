/** Limits of a queue, beyond which lines are dropped. */
export interface QueueBounds {
  lines: number;
  bytes: number;
}

/** Default limits of one sink: 10,000 lines or 16 MiB, whichever is reached first. */
const queueBounds: QueueBounds = { lines: 10_000, bytes: 16 * 1024 * 1024 };

/** Maximum size of one batch. */
export type BatchBounds = QueueBounds;

/** The bounded queue of one sink, oldest line first; when full, new lines are dropped and counted. */
export class LineQueue {
  readonly #bounds: QueueBounds;
  #lines: Uint8Array[] = [];
  /** Index of the oldest line; earlier ones are delivered. */
  #start = 0;
  #bytes = 0;
  #wake: (() => void) | null = null;
  /** Total number of dropped lines. */
  dropped = 0;

  constructor(bounds: QueueBounds = queueBounds) {
    this.#bounds = bounds;
  }

  /** Number of queued lines. */
  get length(): number {
    return this.#lines.length - this.#start;
  }

  /** True while the queue is at most half full. */
  get isRelieved(): boolean {
    const { lines, bytes } = this.#bounds;
    return this.length * 2 <= lines && this.#bytes * 2 <= bytes;
  }

  /** Adds a line with its newline; returns `false` if there is no room. */
  push(line: Uint8Array): boolean {
    const { lines, bytes } = this.#bounds;
    if (this.length >= lines || this.#bytes + line.length > bytes) {
      this.dropped += 1;
      return false;
    }
    this.#lines.push(line);
    this.#bytes += line.length;
    this.#wake?.();
    return true;
  }

  /** Returns the oldest lines, at least one if there is any, without removing them. */
  peek({ lines, bytes }: BatchBounds): Uint8Array[] {
    const batch: Uint8Array[] = [];
    let size = 0;
    for (let at = this.#start; at < this.#lines.length && batch.length < lines; at += 1) {
      const line = this.#lines[at] as Uint8Array;
      if (batch.length > 0 && size + line.length > bytes) break;
      batch.push(line);
      size += line.length;
    }
    return batch;
  }

  /** Removes the oldest lines. */
  remove(count: number): void {
    const end = Math.min(this.#start + count, this.#lines.length);
    for (let at = this.#start; at < end; at += 1) {
      this.#bytes -= (this.#lines[at] as Uint8Array).length;
    }
    this.#start = end;
    // Compacting occasionally costs less than with every batch.
    if (this.#start * 2 >= this.#lines.length) {
      this.#lines = this.#lines.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Resolves when there is a line; rejects when the signal aborts. Supports one waiter at a time. */
  async filled(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.length > 0) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = (): void => reject(signal.reason as Error);
    this.#wake = resolve;
    signal.addEventListener('abort', stop);
    try {
      await promise;
    } finally {
      this.#wake = null;
      signal.removeEventListener('abort', stop);
    }
  }
}
