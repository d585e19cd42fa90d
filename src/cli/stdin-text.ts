/** Reads stdin as text: first a line, then the rest, each once. */
export class StdinText {
  readonly #stdin: NodeJS.ReadStream;
  readonly #decoder = new TextDecoder();
  #chunks: AsyncIterator<Buffer> | null = null;
  #read = '';

  constructor(stdin: NodeJS.ReadStream) {
    this.#stdin = stdin;
  }

  /** Returns the next line without its line break, including an unterminated last line; `null` if there is none. */
  async line(): Promise<string | null> {
    while (!this.#read.includes('\n') && (await this.#more()));
    if (this.#read === '') return null;
    const [line = ''] = this.#read.split('\n', 1);
    this.#read = this.#read.slice(line.length + 1);
    return line.replace(/\r$/, '');
  }

  /** Returns the remaining text. Throws RangeError if it is longer than `limit` characters. */
  async rest(limit: number): Promise<string> {
    while (await this.#more()) {
      if (this.#read.length > limit) throw new RangeError(`more than ${limit} characters came in`);
    }
    const rest = this.#read;
    this.#read = '';
    return rest;
  }

  /** Lets the process exit even if the other end of stdin is still open. */
  leave(): void {
    if (this.#chunks === null) return;
    this.#stdin.pause();
    // A file stream has no `unref`.
    if ('unref' in this.#stdin) this.#stdin.unref();
  }

  async #more(): Promise<boolean> {
    this.#chunks ??= this.#stdin[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const chunk = await this.#chunks.next();
    if (chunk.done === true) return false;
    this.#read += this.#decoder.decode(chunk.value, { stream: true });
    return true;
  }
}
