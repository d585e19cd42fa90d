import { clearLine, cursorTo } from 'node:readline';
import type { LinePrompt, Terminal } from './terminal.ts';

export interface QuestionOptions {
  terminal: Terminal;
  prompter: LinePrompt;
  /** The wording of this moment. */
  words: () => string;
  signal: AbortSignal;
}

const drawn = new Error('something was drawn below the question');

/** A question that moves below what is drawn while it waits. */
export class Question {
  readonly #options: QuestionOptions;
  #drawn = new AbortController();
  #isOpen = false;

  constructor(options: QuestionOptions) {
    this.#options = options;
  }

  /** Asks until a line is typed, `null` at the end of the input. Rejects with the signal's reason. */
  async ask(): Promise<string | null> {
    const { prompter, words } = this.#options;
    for (;;) {
      this.#drawn = new AbortController();
      const signal = AbortSignal.any([this.#options.signal, this.#drawn.signal]);
      this.#isOpen = true;
      try {
        return await prompter.ask(words, signal);
      } catch (error) {
        if (error !== drawn) throw error;
      } finally {
        this.#isOpen = false;
      }
    }
  }

  /** Takes the question off the line that is drawn on next. */
  clear(): void {
    const { stdout } = this.#options.terminal;
    if (!this.#isOpen || stdout.isTTY !== true) return;
    cursorTo(stdout, 0);
    clearLine(stdout, 0);
  }

  /** Asks again, because something was drawn. */
  askAnew(): void {
    this.#drawn.abort(drawn);
  }
}
