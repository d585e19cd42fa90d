import { clearLine, cursorTo } from 'node:readline';
import type { Output } from '../../output.ts';
import type { Prompter } from '../../try/prompter.ts';

/** What a question is asked with. */
export interface QuestionOptions {
  output: Output;
  prompter: Prompter;
  /** What is asked right now. */
  words: () => string;
  signal: AbortSignal;
}

const drawn = new Error('something was drawn below the question');

/** A question that is asked anew below whatever is drawn meanwhile. */
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
    const { stdout } = this.#options.output;
    if (!this.#isOpen || stdout.isTTY !== true) return;
    cursorTo(stdout, 0);
    clearLine(stdout, 0);
  }

  /** Asks again, because something was drawn. */
  askAnew(): void {
    this.#drawn.abort(drawn);
  }
}
