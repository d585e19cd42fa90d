/** Reads what comes in on stdin as text: a line of it, then the rest, each once. */
export class StdinText {
  readonly #stdin: NodeJS.ReadStream;
  readonly #decoder = new TextDecoder();
  #chunks: AsyncIterator<Buffer> | null = null;
  #read = '';

  constructor(stdin: NodeJS.ReadStream) {
    this.#stdin = stdin;
  }

  /** Answers the next line without its end, also one that nothing ends; `null` when there is none. */
  async line(): Promise<string | null> {
    while (!this.#read.includes('\n') && (await this.#more()));
    if (this.#read === '') return null;
    const [line = ''] = this.#read.split('\n', 1);
    this.#read = this.#read.slice(line.length + 1);
    return line.replace(/\r$/, '');
  }

  /** Answers everything up to the end. Throws a RangeError when it is longer than `limit` characters. */
  async rest(limit: number): Promise<string> {
    while (await this.#more()) {
      if (this.#read.length > limit) throw new RangeError(`more than ${limit} characters came in`);
    }
    const rest = this.#read;
    this.#read = '';
    return rest;
  }

  /** Lets the process end although somebody still holds the other side open. */
  leave(): void {
    if (this.#chunks === null) return;
    this.#stdin.pause();
    // A file has nothing to let go of.
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
