import { isCancel, multiselect, password, select, text } from '@clack/prompts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Session } from '../session.ts';

/** What is typed or chosen to go to the step before. */
const back = '<';

/** Somebody wants to go to the step before. */
export class GoBack extends Error {}

/** One of several, or its name alone. */
export type Choice = string | { value: string; label: string; hint?: string };

/**
 * Asks at the terminal. Every question rejects with GoBack when it is answered with `<`, and with a CliError when it is
 * left.
 */
export class Prompts {
  readonly #streams: { input: Session['stdin']; output: Session['output']['stderr'] };
  /** What is said before the next question, such as what was wrong with the last answer. */
  #before: string | null;

  constructor({ stdin, output }: Session, complaint: string | null) {
    this.#streams = { input: stdin, output: output.stderr };
    this.#before = complaint;
  }

  /** Asks for a line; an empty one is an answer as well. */
  async text(message: string, initialValue = ''): Promise<string> {
    const answer = answered(
      await text({ ...this.#streams, message: this.#said(message), initialValue }),
    );
    if (answer.trim() === back) throw new GoBack();
    return answer;
  }

  /** Asks for what nobody should see; an empty text when nothing was typed. */
  async secret(message: string): Promise<string> {
    const answer = answered(
      await password({ ...this.#streams, message: this.#said(message), mask: '' }),
    );
    if (answer === back) throw new GoBack();
    return answer;
  }

  /** Asks for one of several. */
  async one(message: string, choices: readonly Choice[], initialValue: string): Promise<string> {
    const options = [...choices.map(option), { value: back, label: 'back' }];
    const answer = answered(
      await select({ ...this.#streams, message: this.#said(message), initialValue, options }),
    );
    if (answer === back) throw new GoBack();
    return answer;
  }

  /** Asks for any of several. */
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

/** Nothing typed is no text at all to some questions. */
function answered(answer: string | symbol | undefined): string {
  if (typeof answer === 'symbol') throw interrupted();
  return answer ?? '';
}

function interrupted(): CliError {
  return new CliError('interrupted', { code: 'interrupted', exitCode: exitCodes.interrupted });
}
