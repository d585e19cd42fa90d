import { ServerFault } from './server-fault.ts';

/** Maximum bytes of a server's message. */
export const longestMessage = 4 * 1024 * 1024;

const newline = 0x0a;

/** Splits a byte stream into lines. */
export class LineReader {
  #parts: Buffer[] = [];
  #size = 0;

  /** Returns the lines completed by a chunk. Throws ServerFault for a line above the maximum message size. */
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
