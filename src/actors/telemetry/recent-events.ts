/** The newest events of a stream, limited in number and bytes, for new watchers. */
export class RecentEvents {
  readonly #limits: { count: number; bytes: number };
  readonly #events: string[] = [];
  #bytes = 0;

  constructor(limits: { count: number; bytes: number }) {
    this.#limits = limits;
  }

  /** Adds an event and drops the oldest ones until both limits hold. */
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
