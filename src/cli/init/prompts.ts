import { isCancel, multiselect, password, select, text } from '@clack/prompts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Session } from '../session.ts';

/** The input that returns to the previous step. */
const back = '<';

/** Thrown when the user returns to the previous step. */
export class GoBack extends Error {}

/** An option with its label, or only its name. */
export type Choice = string | { value: string; label: string; hint?: string };

/**
 * Prompts on the terminal. Every prompt rejects with GoBack for the input `<`, and with CliError if the user cancels
 * it.
 */
export class Prompts {
  readonly #streams: { input: Session['stdin']; output: Session['output']['stderr'] };
  /** Text shown before the next prompt, for example the error of the previous answer. */
  #before: string | null;

  constructor({ stdin, output }: Session, complaint: string | null) {
    this.#streams = { input: stdin, output: output.stderr };
    this.#before = complaint;
  }

  /** Prompts for a line, which may be empty. */
  async text(message: string, initialValue = ''): Promise<string> {
    const answer = answered(
      await text({ ...this.#streams, message: this.#said(message), initialValue }),
    );
    if (answer.trim() === back) throw new GoBack();
    return answer;
  }

  /** Prompts for hidden input; returns an empty text if the user typed nothing. */
  async secret(message: string): Promise<string> {
    const answer = answered(
      await password({ ...this.#streams, message: this.#said(message), mask: '' }),
    );
    if (answer === back) throw new GoBack();
    return answer;
  }

  /** Prompts for one option. */
  async one(message: string, choices: readonly Choice[], initialValue: string): Promise<string> {
    const options = [...choices.map(option), { value: back, label: 'back' }];
    const answer = answered(
      await select({ ...this.#streams, message: this.#said(message), initialValue, options }),
    );
    if (answer === back) throw new GoBack();
    return answer;
  }

  /** Prompts for any number of options. */
  async many(
    message: string,
    choices: readonly Choice[],
    chosen: readonly string[],
  ): Promise<string[]> {
    const offered = choices.map(option);
    const initialValues = chosen.filter((each) => offered.some(({ value }) => value === each));
    const answer = await multiselect({
      ...this.#streams,
      message: this.#said(message),
      required: false,
      initialValues,
      options: [...offered, { value: back, label: 'back' }],
    });
    if (isCancel(answer)) throw interrupted();
    if (answer.includes(back)) throw new GoBack();
    return answer;
  }

  #said(message: string): string {
    const words = this.#before === null ? message : `${this.#before}. ${message}`;
    this.#before = null;
    return words;
  }
}

function option(choice: Choice): { value: string; label: string; hint?: string } {
  return typeof choice === 'string' ? { value: choice, label: choice } : choice;
}

/** Some prompts return undefined for empty input. */
function answered(answer: string | symbol | undefined): string {
  if (typeof answer === 'symbol') throw interrupted();
  return answer ?? '';
}

function interrupted(): CliError {
  return new CliError('interrupted', { code: 'interrupted', exitCode: exitCodes.interrupted });
}
