import { CliError, exitCodes } from './cli-error.ts';

/** Thrown into a command whose reader has gone; it ends the command without a word. */
export class ReaderGone extends Error {}

/** What ends a command early: Ctrl-C, SIGTERM, or the closing of its stdout. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #exit: (reason: CliError) => never;
  #isHeard = false;
  #isReaderNeeded = true;

  /** `exit` tells the reason and leaves at once. */
  constructor(exit: (reason: CliError) => never) {
    this.#exit = exit;
  }

  /**
   * The signal that aborts when the command shall end; its reason is what to throw. Whoever takes
   * it promises to end soon after; a command that never does is ended where it stands.
   * `isReaderNeeded: false` is for a command that works on when nobody reads its stdout.
   */
  listen({ isReaderNeeded = true } = {}): AbortSignal {
    this.#isHeard = true;
    this.#isReaderNeeded = isReaderNeeded;
    return this.#controller.signal;
  }

  /** Ends the command; a second time at once. */
  interrupt(): void {
    const reason = new CliError('interrupted', {
      code: 'interrupted',
      exitCode: exitCodes.interrupted,
    });
    if (!this.#isHeard || this.#controller.signal.aborted) this.#exit(reason);
    this.#controller.abort(reason);
  }

  /** The terminal has gone. It may say so more than once, to a command that is cleaning up already. */
  hangUp(): void {
    if (!this.#controller.signal.aborted) this.interrupt();
  }

  /** Nobody reads what the command prints; one that streams ends. */
  readerGone(): void {
    if (this.#isReaderNeeded) this.#controller.abort(new ReaderGone());
  }
}
