import { clearLine, cursorTo } from 'node:readline';
import type { LinePrompt, Terminal } from './terminal.ts';

export interface QuestionOptions {
  terminal: Terminal;
  prompter: LinePrompt;
  /** Returns the current prompt text. */
  words: () => string;
  signal: AbortSignal;
}

const drawn = new Error('something was drawn below the question');

/** A prompt that stays below output drawn while it waits. */
export class Question {
  readonly #options: QuestionOptions;
  #drawn = new AbortController();
  #isOpen = false;

  constructor(options: QuestionOptions) {
    this.#options = options;
  }

  /** Prompts until a line is entered; `null` at the end of input. Rejects with the signal's reason. */
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

  /** Clears the prompt from the line that is drawn next. */
  clear(): void {
    const { stdout } = this.#options.terminal;
    if (!this.#isOpen || stdout.isTTY !== true) return;
    cursorTo(stdout, 0);
    clearLine(stdout, 0);
  }

  /** Redraws the prompt below new output. */
  askAnew(): void {
    this.#drawn.abort(drawn);
  }
}
