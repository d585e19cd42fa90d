import {
  clearScreenDown,
  createInterface,
  cursorTo,
  type Interface,
  moveCursor,
} from 'node:readline';
import type { TerminalStream } from '../output.ts';

/** Interval in milliseconds between updates of a changing prompt, such as a countdown. */
const refreshEvery = 1_000;

/** Prompts for one line at a time. */
export class Prompter {
  readonly #lines: Interface;
  readonly #isTerminal: boolean;
  readonly #output: TerminalStream;
  readonly #early: string[] = [];
  #answer: ((line: string | null) => void) | null = null;
  #isClosed = false;

  /** `onInterrupt` is called for Ctrl-C, which a terminal in raw mode does not convert to a signal. */
  constructor(
    input: NodeJS.ReadableStream & { isTTY?: boolean },
    output: TerminalStream,
    onInterrupt: () => void,
  ) {
    this.#output = output;
    this.#isTerminal = input.isTTY === true && output.isTTY === true;
    this.#lines = createInterface({ input, output, terminal: this.#isTerminal });
    this.#lines.on('SIGINT', onInterrupt);
    this.#lines.on('line', (line) => {
      const answer = this.#answer;
      this.#answer = null;
      if (answer === null) this.#early.push(line);
      else answer(line);
    });
    this.#lines.once('close', () => this.#end());
    // A terminal that has hung up cannot be restored. Treated as end of input, not as an error.
    this.#lines.on('error', () => this.#end());
  }

  /**
   * Prompts until a line is entered; `null` at the end of input. Redraws the prompt when its text changes. Rejects with
   * the signal's reason.
   */
  async ask(prompt: () => string, signal: AbortSignal): Promise<string | null> {
    signal.throwIfAborted();
    const early = this.#early.shift();
    if (early !== undefined) return early;
    if (this.#isClosed) return null;
    this.#lines.setPrompt(prompt());
    this.#lines.prompt();
    const redraw = this.#isTerminal
      ? setInterval(() => this.#redraw(prompt()), refreshEvery)
      : null;
    try {
      return await new Promise((resolve, reject) => {
        this.#answer = resolve;
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    } finally {
      this.#answer = null;
      if (redraw !== null) clearInterval(redraw);
    }
  }

  /** Prints output above a waiting prompt. Text that the user has typed stays. */
  say(print: () => void): void {
    if (!this.#isTerminal || this.#answer === null) return print();
    const { rows } = this.#lines.getCursorPos();
    moveCursor(this.#output, 0, -rows);
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
    print();
    // The prompt is redrawn starting as many rows higher as it occupied.
    this.#output.write('\n'.repeat(rows));
    this.#lines.prompt(true);
  }

  /** Restores the terminal. */
  close(): void {
    this.#lines.close();
  }

  #end(): void {
    this.#isClosed = true;
    this.#answer?.(null);
  }

  #redraw(prompt: string): void {
    if (prompt === this.#lines.getPrompt()) return;
    this.#lines.setPrompt(prompt);
    this.#lines.prompt(true);
  }
}
