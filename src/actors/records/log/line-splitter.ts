const newline = 0x0a;

/** Splits a byte stream into lines; buffers only as much of a line as is needed to detect that it is too long. */
export class LineSplitter {
  readonly #maximum: number;
  #pieces: Uint8Array[] = [];
  #size = 0;

  /** @param maximum bytes of a line; at most `maximum + 1` bytes of a longer one are buffered between chunks */
  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Buffered bytes of the incomplete line. */
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
    // Copies the bytes, since the caller may reuse its buffer; `slice` of a Buffer would not copy.
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
