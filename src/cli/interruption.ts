import { CliError, exitCodes } from './cli-error.ts';

/** Thrown into a command whose reader has gone; it ends the command without a word. */
export class ReaderGone extends Error {}

export interface Listening {
  /** `false` for a command that goes on without a reader of its stdout. */
  isReaderNeeded?: boolean;
  /** Hears of the signals that say nothing to a daemon, which then ignores them; they end any other command. */
  onStray?: (signal: string) => void;
}

/** Aborts a command early: on Ctrl-C, SIGTERM, or the closing of its stdout. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #exit: (reason: CliError) => never;
  #isHeard = false;
  #isReaderNeeded = true;
  #wasInterrupted = false;
  #onStray: ((signal: string) => void) | null = null;

  /** `exit` tells the reason and leaves at once. */
  constructor(exit: (reason: CliError) => never) {
    this.#exit = exit;
  }

  /**
   * Returns the signal that aborts when the command must end; its reason is the error to throw. A command that listens
   * promises to end soon after; any other is ended at once.
   */
  listen({ isReaderNeeded = true, onStray }: Listening = {}): AbortSignal {
    this.#isHeard = true;
    this.#isReaderNeeded = isReaderNeeded;
    this.#onStray = onStray ?? null;
    return this.#controller.signal;
  }

  /** Ends the command on Ctrl-C; at the second one immediately. */
  interrupt(): void {
    if (this.#wasInterrupted) this.#exit(interrupted());
    this.#wasInterrupted = true;
    this.terminate();
  }

  /** Ends the command in its own way, however often the signal arrives: senders may repeat it. */
  terminate(): void {
    if (!this.#isHeard) this.#exit(interrupted());
    this.#controller.abort(interrupted());
  }

  /** A signal came that says nothing to a daemon. */
  stray(signal: string): void {
    if (this.#onStray === null) this.terminate();
    else this.#onStray(signal);
  }

  /** Ends a streaming command once its stdout has no reader. */
  readerGone(): void {
    if (this.#isReaderNeeded) this.#controller.abort(new ReaderGone());
  }
}

function interrupted(): CliError {
  return new CliError('interrupted', { code: 'interrupted', exitCode: exitCodes.interrupted });
}
