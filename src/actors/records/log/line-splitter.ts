const newline = 0x0a;

/**
 * Cuts a stream of bytes into lines, keeping no more of a line than is needed to see that it is too long.
 */
export class LineSplitter {
  readonly #maximum: number;
  #pieces: Uint8Array[] = [];
  #size = 0;

  /** @param maximum bytes of a line; of a longer one no more than `maximum + 1` are kept between chunks */
  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** The bytes kept of the line that has begun and has no newline yet. */
  get pending(): number {
    return this.#size;
  }

  /** Yields each line that ends in this chunk, without its newline; valid until the next push. */
  *push(chunk: Uint8Array): Generator<Uint8Array> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      yield this.#take(chunk.subarray(start, end));
      start = end + 1;
    }
    // A copy, which `slice` of a Buffer is not: the caller may use its buffer again.
    this.#keep(new Uint8Array(chunk.subarray(start)));
  }

  #take(last: Uint8Array): Uint8Array {
    if (this.#size === 0) return last;
    this.#keep(last);
    const line = new Uint8Array(this.#size);
    let offset = 0;
    for (const piece of this.#pieces) {
      line.set(piece, offset);
      offset += piece.length;
    }
    this.#pieces = [];
    this.#size = 0;
    return line;
  }

  #keep(piece: Uint8Array): void {
    const kept = piece.subarray(0, this.#maximum + 1 - this.#size);
    if (kept.length === 0) return;
    this.#pieces.push(kept);
    this.#size += kept.length;
  }
}
