import { ServerFault } from './server-fault.ts';

/** The longest message of a server that is read, in bytes. */
export const longestMessage = 4 * 1024 * 1024;

const newline = 0x0a;

/** Cuts a stream of bytes into lines. */
export class LineReader {
  #parts: Buffer[] = [];
  #size = 0;

  /** Returns the lines that a chunk ends. Throws ServerFault for one that is longer than a message may be. */
  read(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#take(chunk.subarray(start, end));
      lines.push(Buffer.concat(this.#parts).toString('utf8'));
      this.#parts = [];
      this.#size = 0;
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
    return lines;
  }

  #take(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > longestMessage) {
      this.#parts = [];
      throw new ServerFault('sent a message of more than 4 MiB');
    }
    this.#parts.push(part);
  }
}
