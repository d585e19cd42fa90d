/** The newest events of a stream, bounded in number and in bytes, for those who join late. */
export class RecentEvents {
  readonly #limits: { count: number; bytes: number };
  readonly #events: string[] = [];
  #bytes = 0;

  constructor(limits: { count: number; bytes: number }) {
    this.#limits = limits;
  }

  /** Keeps an event and lets the oldest go until both bounds hold again. */
  add(event: string): void {
    this.#events.push(event);
    this.#bytes += Buffer.byteLength(event);
    while (this.#events.length > this.#limits.count || this.#bytes > this.#limits.bytes) {
      this.#bytes -= Buffer.byteLength(this.#events.shift() ?? '');
    }
  }

  /** Oldest first. */
  all(): readonly string[] {
    return this.#events;
  }
}
